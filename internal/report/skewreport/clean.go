package skewreport

import (
	"reflect"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/report"
)

// multiline are the fields whose line ends mean something. A line end in any
// other field is somebody's attempt to write lines of ours.
var multiline = []string{"Observed", "Expected", "Why", "Remedy", "Command", "Text", "Commands", "Wait", "Done", "Undo"}

// display returns a copy of d in which no string does anything but be read.
func (d *Document) display() *Document {
	return mapStrings(d, func(field, s string) string {
		if !slices.Contains(multiline, field) {
			return printable.Line(s)
		}
		return strings.Join(report.CleanLines(s), "\n")
	})
}

// valid returns a copy of d whose strings are UTF-8 and otherwise as they
// came.
func (d *Document) valid() *Document {
	return mapStrings(d, func(_, s string) string { return report.Valid(s) })
}

// mapStrings returns a deep copy of v with f over each string in it, map keys
// too. It works on all fields there are, so that none that is added later can
// be forgotten.
func mapStrings[T any](v T, f func(field, s string) string) T {
	return mapValue(reflect.ValueOf(v), "", f).Interface().(T)
}

func mapValue(v reflect.Value, field string, f func(field, s string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(f(field, v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(mapValue(v.Elem(), field, f))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(mapValue(v.Field(i), v.Type().Field(i).Name, f))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			out.Index(i).Set(mapValue(v.Index(i), field, f))
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		}
		for key, value := range v.Seq2() {
			out.SetMapIndex(mapValue(key, field, f), mapValue(value, field, f))
		}
	default:
		out.Set(v)
	}
	return out
}
