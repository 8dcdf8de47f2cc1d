package expect

import (
	"fmt"
	"testing"

	"github.com/winbake/winbake/internal/windows/pe"
)

func TestCompareStamps(t *testing.T) {
	const a, b = "main.commit", "main.version"
	wrapped := func(err error) error { return fmt.Errorf("find variable: %w", err) }
	right := pe.Var{Value: "v1.3.0"}
	for _, tt := range []struct {
		name  string
		a, b  pe.Var
		ids   []string
		texts []string
	}{
		{"right", pe.Var{Value: "abc"}, right, nil, nil},
		{"wrong", pe.Var{Value: "abc"}, pe.Var{Value: "v1.2.0"}, []string{"BLOCK binary.stamp"}, []string{`main.version = "v1.2.0"`, `main.version = "v1.3.0"`, "in silence"}},
		{"empty", pe.Var{Value: "abc"}, pe.Var{}, []string{"BLOCK binary.stamp"}, []string{`main.version = ""`, "misspelt", "bake build csi-proxy --no-cache"}},
		{"both", pe.Var{}, pe.Var{}, []string{"BLOCK binary.stamp", "BLOCK binary.stamp"}, []string{"main.commit"}},
		{"no such variable", pe.Var{Err: wrapped(pe.ErrNoSymbol)}, right, []string{"BLOCK binary.stamp"}, []string{"no variable main.commit", "bake lock csi-proxy"}},
		{"stripped", pe.Var{Err: wrapped(pe.ErrNoSymbols)}, pe.Var{Err: wrapped(pe.ErrNoSymbols)}, []string{"UNKNOWN binary.stamp"}, []string{"main.commit, main.version", "-s"}},
		{"damaged", pe.Var{Err: wrapped(pe.ErrDamaged)}, right, []string{"BLOCK binary.stamp"}, []string{"damaged executable"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := program()
			p.Stamps = map[string]string{a: "abc", b: "v1.3.0"}
			fs := p.compareStamps([]string{a, b}, map[string]pe.Var{a: tt.a, b: tt.b})
			for i := range fs {
				fs[i].Object = object
			}
			expectIDs(t, fs, tt.ids...)
			if len(fs) != 0 {
				expectText(t, fs[0], tt.texts...)
			}
		})
	}
}
