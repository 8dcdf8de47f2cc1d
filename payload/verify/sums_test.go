package verify

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestParseSums(t *testing.T) {
	a, b := sumOf("a"), sumOf("b")
	tests := []struct {
		name, in string
		want     map[string]string
		ids      []string
	}{
		{"plain", a + "  a.exe\n" + b + "  b.exe\n", map[string]string{"a.exe": a, "b.exe": b}, nil},
		{"no last newline", a + "  a.exe", map[string]string{"a.exe": a}, nil},
		{"absolute paths", a + "  /build/x/a.exe\n", map[string]string{"a.exe": a}, nil},
		{"carriage returns", a + "  a.exe\r\n", map[string]string{"a.exe": a}, nil},
		{"blank in a name", a + "  my file\n", map[string]string{"my file": a}, nil},
		{"empty", "", nil, []string{IDSumMalformed}},
		{"blank line", a + "  a.exe\n\n" + b + "  b.exe\n", map[string]string{"a.exe": a, "b.exe": b}, []string{IDSumMalformed}},
		{"binary mode", a + " *a.exe\n", nil, []string{IDSumMalformed}},
		{"three parts", a + "  a  b\n", nil, []string{IDSumMalformed}},
		{"upper case", strings.ToUpper(a) + "  a.exe\n", nil, []string{IDSumMalformed}},
		{"escaped", `\` + a + "  a\\\\b\n", nil, []string{IDSumMalformed}},
		{"short", a[:62] + "  a.exe\n", nil, []string{IDSumMalformed}},
		{"folder", a + "  x/\n", nil, []string{IDSumMalformed}},
		{"twice", a + "  x/a.exe\n" + b + "  y/a.exe\n", map[string]string{"a.exe": a}, []string{IDSumDuplicate}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, ps := parseSums("payload/sha256sum", []byte(tt.in))
			var ids []string
			for _, p := range ps {
				ids = append(ids, p.ID)
			}
			if !maps.Equal(s.byName, tt.want) || !slices.Equal(ids, tt.ids) {
				t.Errorf("got %v, %v; want %v, %v", s.byName, ids, tt.want, tt.ids)
			}
		})
	}
}

func FuzzSums(f *testing.F) {
	f.Add([]byte(sumOf("a") + "  /x/a.exe\n"))
	f.Add([]byte("\n  \n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, ps := parseSums("sha256sum", in)
		if len(s.names) != len(s.byName) {
			t.Errorf("%d names, %d sums", len(s.names), len(s.byName))
		}
		if len(s.names)+len(ps) == 0 {
			t.Error("neither a sum nor a problem")
		}
		for name, sum := range s.byName {
			if len(sum) != 64 || strings.ContainsAny(name, "/\n") || strings.Contains(name, "  ") || name == "" {
				t.Errorf("%q: %q", name, sum)
			}
		}
	})
}

func sumOf(b string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(b))) }
