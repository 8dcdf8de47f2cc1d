package catalog

import (
	"embed"
	"fmt"
	"path"
	"reflect"
	"sync"
)

//go:embed data/*.yaml
var embedded embed.FS

// Load returns the catalog that the program was built with: the caller's own
// copy.
func Load() (*Catalog, error) {
	c, err := own()
	if err != nil {
		return nil, err
	}
	return clone(c), nil
}

var own = sync.OnceValues(func() (*Catalog, error) {
	docs, err := ownDocuments()
	if err != nil {
		return nil, err
	}
	return join(docs, nil)
})

var ownDocuments = sync.OnceValues(func() ([]*document, error) {
	files, err := embedded.ReadDir("data")
	if err != nil {
		return nil, fmt.Errorf("read the embedded catalog: %w", err)
	}
	var docs []*document
	for _, f := range files {
		name := path.Join("data", f.Name())
		src, err := embedded.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the embedded catalog: %w", err)
		}
		d, err := parse("internal/catalog/"+name, src)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
})

// LoadWith returns the catalog with overlays on top, in their order. A row of
// an overlay takes the place of the row with the same key: a driver's name, a
// release's minor, csi-proxy's version, the first WMCO version of a range, an
// operator's minor, a payload file's path and first minor, an incompatibility's
// id, in-tree plugin and minor, a gate's key, driver and commit, a digest. A
// release's row may leave out what it doesn't change, and its drivers are merged
// one by one; all other rows are replaced whole. The result is checked as our own
// data is. Errors are *fault.Error with the file, line and column.
func LoadWith(overlays ...Overlay) (*Catalog, error) {
	if len(overlays) == 0 {
		return Load()
	}
	docs, err := ownDocuments()
	if err != nil {
		return nil, err
	}
	return join(docs, overlays)
}

// LoadOver is LoadWith for another whole catalog than the embedded one. It may be in
// several documents, of which the one with the date has the apiVersion.
func LoadOver(whole []Overlay, overlays ...Overlay) (*Catalog, error) {
	var docs []*document
	for _, o := range whole {
		d, err := parse(o.Name, o.Data)
		if err != nil {
			return nil, err
		}
		if _, dated := d.node("asOf"); dated || len(whole) == 1 {
			if err := d.checkHead(); err != nil {
				return nil, err
			}
		}
		docs = append(docs, d)
	}
	return join(docs, overlays)
}

// BuiltIn is the day that the embedded catalog is of; "" if it can't be read, which
// Load says.
func BuiltIn() string {
	c, err := own()
	if err != nil {
		return ""
	}
	return c.AsOf
}

func join(docs []*document, overlays []Overlay) (*Catalog, error) {
	m := &merger{into: &Catalog{APIVersion: apiVersion, Kind: kindName}, from: map[rowKey][]rowAt{}}
	for _, d := range docs {
		m.add(d)
	}
	for _, o := range overlays {
		d, err := parse(o.Name, o.Data)
		if err != nil {
			return nil, err
		}
		if err := d.checkHead(); err != nil {
			return nil, err
		}
		m.add(d)
	}
	m.into.sort()
	if err := m.check(); err != nil {
		return nil, err
	}
	// Its rows are those of the parsed files, which the next call uses again.
	return clone(m.into), nil
}

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
