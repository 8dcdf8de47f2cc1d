package printable

import (
	"slices"
	"strings"
	"testing"
)

func TestFit(t *testing.T) {
	table := [][]string{
		{"NAME", "SOURCE", "STATE"},
		{"csi-proxy", "github.com/kubernetes-csi/csi-proxy", "cached"},
		{"a", "", "not built, since yesterday"},
	}
	for n, want := range map[int][]string{
		78: {
			"NAME       SOURCE                               STATE",
			"csi-proxy  github.com/kubernetes-csi/csi-proxy  cached",
			"a                                               not built, since yesterday",
		},
		50: {
			"NAME       SOURCE              STATE",
			"csi-proxy  github.com/         cached",
			"           kubernetes-csi/",
			"           csi-proxy",
			"a                              not built, since",
			"                               yesterday",
		},
		9: {
			"NAME      SOURCE       STATE",
			"csi-      github.com/  cached",
			"proxy     kubernetes-",
			"          csi/csi-",
			"          proxy",
			"a                      not built,",
			"                       since",
			"                       yesterday",
		},
	} {
		if got := Fit(table, n); !slices.Equal(got, want) {
			t.Errorf("%d columns:\n%s\nwant\n%s", n, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if lines := Fit(nil, 5); lines != nil {
		t.Errorf("%q", lines)
	}
}
