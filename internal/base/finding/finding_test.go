package finding

import (
	"encoding/json"
	"testing"
)

func TestExitCode(t *testing.T) {
	one := func(s ...Severity) (fs []Finding) {
		for _, v := range s {
			fs = append(fs, Finding{Severity: v})
		}
		return fs
	}
	for _, c := range []struct {
		fs                   []Finding
		block, unknown, warn int
	}{
		{nil, 0, 0, 0},
		{one(Pass, Info), 0, 0, 0},
		{one(Warn), 0, 0, 2},
		{one(Unknown), 0, 4, 4},
		{one(Warn, Unknown), 0, 4, 4},
		{one(Block), 3, 3, 3},
		{one(Unknown, Block, Warn), 3, 3, 3},
	} {
		for name, want := range map[string]int{"block": c.block, "unknown": c.unknown, "warn": c.warn} {
			var f FailOn
			if err := f.Set(name); err != nil {
				t.Fatal(err)
			}
			if got := f.ExitCode(c.fs); got != want {
				t.Errorf("--fail-on=%s of %v: %d, want %d", name, c.fs, got, want)
			}
		}
	}
	if err := new(FailOn).Set("pass"); err == nil {
		t.Error("--fail-on=pass was taken")
	}
}

func TestSortAndAccept(t *testing.T) {
	fs := []Finding{{ID: "b", Severity: Warn}, {ID: "a", Severity: Block, Object: "y"}, {ID: "a", Severity: Block, Object: "x"}}
	Sort(fs)
	if fs[0].Object != "x" || fs[2].ID != "b" {
		t.Errorf("sorted: %v", fs)
	}
	if got := Worst(Accept(fs, []string{"a=x"})); got != Block {
		t.Errorf("one object accepted: %v", got)
	}
	if got := Worst(Accept(fs, []string{"a"})); got != Warn {
		t.Errorf("one rule accepted: %v", got)
	}
	if Worst(fs) != Block || Count(fs, Block) != 2 {
		t.Error("Accept changed its argument")
	}
}

func TestSeverityJSON(t *testing.T) {
	for s := Pass; s <= Block; s++ {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Severity
		if err := json.Unmarshal(data, &back); err != nil || back != s {
			t.Errorf("%s came back as %v, %v", data, back, err)
		}
	}
	if err := new(Severity).UnmarshalText([]byte("FINE")); err == nil {
		t.Error("FINE was read")
	}
}
