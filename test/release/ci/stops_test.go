package ci

import (
	"path/filepath"
	"strings"
	"testing"
)

// stop is something wrong with a release, and the step that has to stop it.
type stop struct {
	name       string
	step       string // the step that fails, with "-" for each space
	says       string
	ahead      string // damage is done ahead of this step
	damage     func(*testing.T, *fixture)
	wrongLogin bool
}

var stops = []stop{
	{
		name: "stale lock", ahead: "lock-check", step: "lock-check", says: "bake lock",
		damage: func(t *testing.T, f *fixture) {
			f.write(t, "conf.toml", "version = 3\n")
			f.pin(t)
		},
	}, {
		name: "damaged image", ahead: "verify", step: "verify", says: "<failure",
		damage: func(t *testing.T, f *fixture) {
			// Another payload, whole, but not that of the pins.
			f.must(t, "cp versions.yaml kept.yaml && cp -r versions.lock kept.lock")
			f.write(t, "conf.toml", "version = 4\n")
			f.pin(t)
			f.must(t, "bin/bake lock -q && bin/bake payload -q && mv kept.yaml versions.yaml && "+
				"rm -r versions.lock && mv kept.lock versions.lock && printf 'version = 2\\n' > conf.toml")
		},
	}, {
		name: "another image than was verified", ahead: "push", step: "push", says: "isn't the image that was verified",
		damage: func(t *testing.T, f *fixture) {
			f.write(t, "conf.toml", "version = 5\n")
			f.pin(t)
			f.must(t, "bin/bake lock -q")
		},
	}, {
		name: "wrong login", step: "push", says: "401", wrongLogin: true,
	},
}

// check runs the steps of a release that must be stopped, and returns what they
// printed.
func (c stop) check(t *testing.T, f *fixture, steps []step, ref string) (printed string) {
	t.Helper()
	plain := func(s string) string { return strings.ReplaceAll(s, " ", "-") }
	failed, printed := f.runAll(t, steps, func(name string) {
		if c.damage != nil && plain(name) == c.ahead {
			c.damage(t, f)
		}
	})
	if plain(failed) != c.step || !strings.Contains(printed, c.says) {
		t.Errorf("%q failed, want %q with %q:\n%s", failed, c.step, c.says, printed)
	}
	if c.step == "verify" && !strings.Contains(read(t, filepath.Join(f.dir, "_output/verify.xml")), "<failure") {
		t.Error("the report doesn't tell of it")
	}
	if c.step != "push" && pushed(t, ref) != "" {
		t.Error("it was pushed nevertheless")
	}
	return printed
}
