package bake

import (
	"testing"
	"time"

	"github.com/winbake/winbake/internal/build/compile"
	"github.com/winbake/winbake/internal/build/pins"
)

func TestCreatedAt(t *testing.T) {
	module, older, newer := &pins.Locked{Module: "example.com/x"}, &pins.Locked{Git: "x", Date: "2024-01-02T03:04:05Z"}, &pins.Locked{Git: "x", Date: "2025-01-02T03:04:05Z"}
	for name, c := range map[string]struct {
		epoch  string
		locked []*pins.Locked
		want   string // "" for an error
	}{
		"modules":             {"", []*pins.Locked{module}, "1970-01-01T00:00:00Z"},
		"the newest commit":   {"", []*pins.Locked{module, newer, older}, "2025-01-02T03:04:05Z"},
		"SOURCE_DATE_EPOCH":   {"86400", []*pins.Locked{newer}, "1970-01-02T00:00:00Z"},
		"one that isn't such": {"today", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SOURCE_DATE_EPOCH", c.epoch)
			var jobs []*compile.Job
			for _, l := range c.locked {
				jobs = append(jobs, &compile.Job{Locked: l})
			}
			got, err := createdAt(jobs)
			if (err != nil) != (c.want == "") || err == nil && got.Format(time.RFC3339) != c.want {
				t.Errorf("%v, %v, want %s", got, err, c.want)
			}
		})
	}
}
