package catalog

import (
	"reflect"
	"testing"
)

// TestCallersShareNothing: what one caller writes into its catalog, anywhere,
// is in nobody else's.
func TestCallersShareNothing(t *testing.T) {
	for name, get := range map[string]func() (*Catalog, error){
		"Load":     Load,
		"LoadWith": func() (*Catalog, error) { return LoadWith() },
	} {
		want := load(t)
		mine, err := get()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(mine, want) {
			t.Errorf("%s: a copy isn't the same", name)
		}
		if n := scribble(reflect.ValueOf(mine).Elem()); n < 1000 {
			t.Errorf("%s: only %d values were there to change", name, n)
		}
		again, err := get()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again, want) || !reflect.DeepEqual(load(t), want) {
			t.Errorf("%s: what one caller changed reached another", name)
		}
	}
}

// scribble changes every value in place and counts them.
func scribble(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n += scribble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += scribble(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			n += scribble(v.MapIndex(key)) // slices, which are changed where they are
			v.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString("scribbled")
			n++
		}
	case reflect.Int:
		if v.CanSet() {
			v.SetInt(-99)
			n++
		}
	case reflect.Bool:
		if v.CanSet() {
			v.SetBool(!v.Bool())
			n++
		}
	}
	return n
}
