package plan

import (
	"testing"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// The newest patch is taken, before it one without known risks, in whatever order the
// cluster lists them.
func TestOffered(t *testing.T) {
	for name, tt := range map[string]struct {
		to                     string
		available, conditional []string
		want                   string
	}{
		"newest last":            {"4.20", []string{"4.20.1", "4.20.3"}, nil, "4.20.3"},
		"newest first":           {"4.20", []string{"4.20.3", "4.20.1"}, nil, "4.20.3"},
		"newest in the middle":   {"4.20", []string{"4.20.1", "4.20.10", "4.20.9"}, nil, "4.20.10"},
		"the newest has risks":   {"4.20", []string{"4.20.1", "4.20.3"}, []string{"4.20.3"}, "4.20.1"},
		"risky ones first":       {"4.20", []string{"4.20.3", "4.20.2", "4.20.1"}, []string{"4.20.3", "4.20.2"}, "4.20.1"},
		"all have risks":         {"4.20", []string{"4.20.1", "4.20.3", "4.20.2"}, []string{"4.20.1", "4.20.2", "4.20.3"}, "4.20.3"},
		"another minor":          {"4.20", []string{"4.21.1", "4.19.30"}, nil, ""},
		"a candidate":            {"4.20", []string{"4.20.0-rc.1"}, nil, ""},
		"the patch is asked for": {"4.20.1", []string{"4.20.3"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			to, err := version.ParseOpenShift(tt.to)
			if err != nil {
				t.Fatal(err)
			}
			inv := &inventory.Inventory{}
			inv.Cluster.Available = tt.available
			for _, r := range tt.conditional {
				inv.Cluster.Conditional = append(inv.Cluster.Conditional, inventory.Risk{Release: r})
			}
			p := planner{inv: inv}
			got := p.offered(to)
			if text := got.String(); got.IsZero() && tt.want != "" || !got.IsZero() && text != tt.want {
				t.Errorf("offered %s, want %q", text, tt.want)
			}
		})
	}
}
