package catalog

import (
	"fmt"
	"reflect"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/strictyaml"
)

// apiVersion is what every document of the catalog begins with, and kindName what
// it may call itself.
const (
	apiVersion = "winbake.dev/catalog/v1"
	kindName   = "Catalog"
)

// document is a partial Catalog. Its mistakes are *fault.Error with their place.
type document struct {
	*strictyaml.Document
	// hasHead: it must begin with the apiVersion.
	hasHead bool
}

var kindOfFile = strictyaml.Options{
	File: "catalog data", Nulls: true, Help: "verify catalog -o yaml prints the keys", Types: map[reflect.Type]string{reflect.TypeFor[Catalog](): "the catalog"},
}

func parse(name string, src []byte) (*document, error) {
	d, err := strictyaml.Parse(name, src, kindOfFile)
	if err == nil && d.Root == nil {
		err = &fault.Error{Where: name, What: "the file is empty", Fix: "begin it with: apiVersion: " + apiVersion}
	}
	return &document{Document: d}, err
}

// decode reads the Catalog, which is the caller's own.
func (d *document) decode() (*Catalog, error) {
	c := &Catalog{}
	if d.Decode(c); len(d.Faults) > 0 {
		return nil, d.Faults[0]
	}
	if !d.hasHead {
		return c, nil
	}
	if n, found := d.Node("kind"); found && c.Kind != kindName {
		return nil, d.At(n, "kind "+printable.Quote(c.Kind)+" isn't known", "write: kind: "+kindName+", or nothing of it")
	}
	switch n, found := d.Node("apiVersion"); {
	case !found:
		return nil, d.At(d.Root, "apiVersion is missing", "begin the file with: apiVersion: "+apiVersion)
	case c.APIVersion != apiVersion:
		return nil, d.At(n, fmt.Sprintf("apiVersion %s isn't known", printable.Quote(c.APIVersion)), "write: apiVersion: "+apiVersion)
	}
	if n, found := d.Node("asOf"); found && !day.MatchString(c.AsOf) {
		return nil, d.At(n, fmt.Sprintf("asOf %s is no day", printable.Quote(c.AsOf)), `write it as "2026-08-31"`)
	}
	return c, nil
}
