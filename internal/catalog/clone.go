package catalog

import "reflect"

// clone copies a value with all that it leads to, so that whoever changes what
// Load hands out changes nothing of the next caller's.
func clone[T any](v T) T {
	src := reflect.ValueOf(&v).Elem()
	dst := reflect.New(src.Type()).Elem()
	cloneInto(dst, src)
	return dst.Interface().(T)
}

func cloneInto(dst, src reflect.Value) {
	switch src.Kind() {
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(src.Type().Elem()))
			cloneInto(dst.Elem(), src.Elem())
		}
	case reflect.Struct:
		for i := range src.NumField() {
			cloneInto(dst.Field(i), src.Field(i))
		}
	case reflect.Slice:
		if !src.IsNil() {
			dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
			for i := range src.Len() {
				cloneInto(dst.Index(i), src.Index(i))
			}
		}
	case reflect.Map:
		if !src.IsNil() {
			dst.Set(reflect.MakeMapWithSize(src.Type(), src.Len()))
			for it := src.MapRange(); it.Next(); {
				value := reflect.New(src.Type().Elem()).Elem()
				cloneInto(value, it.Value())
				dst.SetMapIndex(it.Key(), value)
			}
		}
	default:
		dst.Set(src)
	}
}
