package skew_test

import (
	"reflect"
	"testing"

	"github.com/winbake/winbake/internal/skew"
)

// TestResultIsPlain holds the answer to exported fields alone: reports walk and
// change it by reflection, and its JSON is public.
func TestResultIsPlain(t *testing.T) {
	plain(t, reflect.TypeFor[skew.Result](), map[reflect.Type]bool{})
}

func plain(t *testing.T, typ reflect.Type, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Map {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || seen[typ] {
		return
	}
	seen[typ] = true
	for i := range typ.NumField() {
		if f := typ.Field(i); f.IsExported() && f.Tag.Get("json") != "" {
			plain(t, f.Type, seen)
		} else {
			t.Errorf("%s.%s isn't exported, or has no name in JSON", typ, f.Name)
		}
	}
}

// A driver that is ahead stays as it is: its row names no way back to csi-proxy.
func TestRowOfADriverAheadKeepsItsMode(t *testing.T) {
	for _, row := range evaluate(t, clusterOf("4.18", "10.18.0", vsphereHostProcess("v3.5.0")), skew.Request{To: "4.19"}).Drivers {
		if row.Mode != "HostProcess" || row.ModeTarget != "HostProcess" {
			t.Errorf("%+v", row)
		}
	}
}
