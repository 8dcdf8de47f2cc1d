package pins

import (
	"slices"
	"testing"
)

func TestDiff(t *testing.T) {
	lock := func(l *Locked) *Lock { return &Lock{Components: map[string]*Locked{"a": l}} }
	before := &File{Go: "1.26.1", Components: []Component{
		{Name: "a", Module: "example.com/a", Version: "v1.0.0", Package: "./cmd/a", Stamp: map[string]string{"main.v": "1"}},
		{Name: "gone", File: "x", SHA256: "11"},
	}}
	after := &File{Go: "1.26.2", Components: []Component{
		{Name: "a", Module: "example.com/a", Version: "v1.1.0", Package: "./cmd/a", Tags: []string{"t"}},
	}, Drivers: []Component{{Name: "new", Git: "https://example.com/b", Commit: "22", Package: "./b"}}}
	was := lock(&Locked{GoLine: "1.23", DefaultGODEBUG: "a=0,b=1", APIGroups: []string{"disk v1", "smb v1beta2"}, Modules: []LockedModule{{Path: "m", Version: "v1"}, {Path: "n", Version: "v1"}}})
	is := lock(&Locked{GoLine: "1.24", DefaultGODEBUG: "b=1", APIGroups: []string{"disk v1", "smb v1"}, Modules: []LockedModule{{Path: "m", Version: "v1", Replace: &ModuleVersion{Path: "f", Version: "v2"}}, {Path: "n", Version: "v1"}}})
	want := []Change{
		{"a", "API group smb v1", "", "yes"}, {"a", "API group smb v1beta2", "yes", ""}, {"a", "GODEBUG a", "0", ""}, {"a", "go line", "1.23", "1.24"}, {"a", "module m", "v1", "f v2"}, {"a", "stamp main.v", "1", ""},
		{"a", "tags", "", "t"}, {"a", "toolchain", "go1.26.1", "go1.26.2"}, {"a", "version", "v1.0.0", "v1.1.0"},
		{"new", "commit", "", "22"}, {"new", "package", "", "./b"}, {"new", "source", "", "https://example.com/b"}, {"new", "toolchain", "", "go1.26.2"},
		{"gone", "sha256", "11", ""}, {"gone", "source", "x", ""},
	}
	if got := Diff(before, after, was, is); !slices.Equal(got, want) {
		t.Errorf("have %q\nwant %q", got, want)
	}
	if got := Diff(after, after, is, is); got != nil {
		t.Errorf("of the same: %q", got)
	}
}
