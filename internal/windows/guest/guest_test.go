package guest

import (
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for s, want := range map[string]Target{
		"Administrator@node":              {"Administrator", "node", 0},
		"joe@corp.example@node:2222":      {"joe@corp.example", "node", 2222},
		`CORP\joe@10.0.0.7`:               {`CORP\joe`, "10.0.0.7", 0},
		"a@[fe80::1%eth0]":                {"a", "fe80::1%eth0", 0},
		"node":                            {"", "node", 0},
		"node:2222":                       {"", "node", 2222},
		"a@[::1]:2222":                    {"a", "::1", 2222},
		"Administratör mit Leer@node:022": {"Administratör mit Leer", "node", 22},
	} {
		got, err := ParseTarget(s)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
		if again, err := ParseTarget(got.String()); err != nil || again.String() != got.String() {
			t.Errorf("%q is written %q, which is %+v, %v", s, got.String(), again, err)
		}
	}
	for _, s := range []string{"", "@node", "a@", "a@node:", "a@node:0", "a@node:99999", "a@node:ssh", "a@::1", "a@[::1", "a@[::1]x", "a@-oProxyCommand=x", "a@no de"} {
		if got, err := ParseTarget(s); err == nil || !strings.Contains(err.Error(), "fix: ") {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	f.Add("Administrator@node:2222")
	f.Add("a@[::1]:22")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTarget(s)
		if err != nil {
			return
		}
		if again, err := ParseTarget(got.String()); err != nil || again.String() != got.String() {
			t.Errorf("%q: %+v, then %+v, %v", s, got, again, err)
		}
	})
}
