package main

import (
	"maps"
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	all := tree{
		"cmd/main.go": "1", "pkg/a/a.go": "2", "pkg/a/a_test.go": "3", "pkg/tool/gen-skus-map": "4",
		"go.mod": "5", "main.go": "6", "tests/e2e/suite.go": "7", "test/x.yaml": "8", "pkgs/b.go": "9",
	}
	code, around := all.split()
	for _, c := range []struct {
		name string
		got  tree
		want []string
	}{
		{"code", code, []string{"cmd/main.go", "pkg/a/a.go"}},
		{"around", around, []string{"go.mod", "main.go", "pkg/tool/gen-skus-map", "pkgs/b.go"}},
	} {
		if got := slices.Sorted(maps.Keys(c.got)); !slices.Equal(got, c.want) {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
	}
}

func TestDiffer(t *testing.T) {
	a := tree{"same": "1", "changed": "2", "removed": "3"}
	b := tree{"same": "1", "changed": "4", "added": "5"}
	want := []string{"added", "changed", "removed"}
	if got := a.differ(b); !slices.Equal(got, want) {
		t.Errorf("they differ in %v, want %v", got, want)
	}
	if got := b.differ(a); !slices.Equal(got, want) {
		t.Errorf("the other way round they differ in %v, want %v", got, want)
	}
	if got := a.differ(a); len(got) > 0 {
		t.Errorf("a tree differs from itself in %v", got)
	}
	if a.key() == b.key() || a.key() != maps.Clone(a).key() {
		t.Error("keys are equal for other trees or differ for equal ones")
	}
}
