package compile

import (
	"context"
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
)

func job() *Job {
	return &Job{
		File:      &pins.File{Go: "1.26.8"},
		Component: &pins.Component{Name: "x", Module: "example.com/x", Version: "v1.0.0", Package: "./cmd/x"},
		Locked:    &pins.Locked{Module: "example.com/x", Version: "v1.0.0", Sum: "h1:a=", GoMod: "a", GoSum: "b", Commit: "c", Tree: "d"},
		Stamps:    map[string]string{"main.v": "1"},
	}
}

func TestActionCoversWhatDecidesBytes(t *testing.T) {
	first := NewAction(job(), "go1.26.8").Digest()
	for name, c := range map[string]struct {
		change func(*Job) string // returns the toolchain
		same   bool
	}{
		"nothing":    {func(*Job) string { return "go1.26.8" }, true},
		"name":       {func(j *Job) string { j.Component.Name = "y"; return "go1.26.8" }, true},
		"payload":    {func(j *Job) string { j.Component.Payload = "y.exe"; return "go1.26.8" }, true},
		"toolchain":  {func(*Job) string { return "go version go1.26.8 (Red Hat) linux/amd64" }, false},
		"sum":        {func(j *Job) string { j.Locked.Sum = "h1:b="; return "go1.26.8" }, false},
		"go.mod":     {func(j *Job) string { j.Locked.GoMod = "z"; return "go1.26.8" }, false},
		"go.sum":     {func(j *Job) string { j.Locked.GoSum = "z"; return "go1.26.8" }, false},
		"tree":       {func(j *Job) string { j.Locked.Tree = "z"; return "go1.26.8" }, false},
		"package":    {func(j *Job) string { j.Component.Package = "./cmd/y"; return "go1.26.8" }, false},
		"dir":        {func(j *Job) string { j.Component.Dir = "y"; return "go1.26.8" }, false},
		"submodules": {func(j *Job) string { j.Component.Submodules = true; return "go1.26.8" }, false},
		"tags":       {func(j *Job) string { j.Component.Tags = []string{"y"}; return "go1.26.8" }, false},
		"fips":       {func(j *Job) string { j.Component.FIPS = "v1.0.0"; return "go1.26.8" }, false},
		"godebug": {func(j *Job) string {
			j.Component.Godebug = &pins.Godebug{Set: map[string]string{"winsymlink": "0"}}
			return "go1.26.8"
		}, false},
		"sums of Go": {func(j *Job) string { j.Locked.ToolchainSums = []string{"linux-amd64 h1:z"}; return "go1.26.8" }, false},
		"output":     {func(j *Job) string { j.Locked.Output = &pins.Output{Action: "z"}; return "go1.26.8" }, true},
		"stamp":      {func(j *Job) string { j.Stamps["main.v"] = "2"; return "go1.26.8" }, false},
	} {
		j := job()
		toolchain := c.change(j)
		if got := NewAction(j, toolchain).Digest(); (got == first) != c.same {
			t.Errorf("%s: same digest is %v, want %v", name, got == first, c.same)
		}
	}
}

func TestLinkerFlags(t *testing.T) {
	for want, stamps := range map[string]map[string]string{
		"-w":                       nil,
		"-w -X a.b=1 -X main.v=v1": {"main.v": "v1", "a.b": "1"},
		"-w -X 'main.v=two words'": {"main.v": "two words"},
		`-w -X "main.v=it's"`:      {"main.v": "it's"},
		"-w -X main.v=":            {"main.v": ""},
	} {
		if got := linkerFlags(stamps); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLimiterBoundsMemory(t *testing.T) {
	l := newLimiter(4, 10)
	a, err := l.acquire(t.Context(), 8)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan func())
	go func() {
		release, err := l.acquire(t.Context(), 100) // more than there is: it runs alone
		if err != nil {
			t.Error(err)
		}
		got <- release
	}()
	select {
	case <-got:
		t.Fatal("two builds have more memory than there is")
	default:
	}
	a()
	(<-got)()

	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := l.acquire(stopped, 1); err == nil {
		t.Error("a build was started after a failure")
	}
}

func TestSpacious(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		jobs   int
		memory int64
		needs  []int64
		want   bool
	}{
		{2, 18 * gib, []int64{7 * gib, 5 * gib, 5 * gib}, true}, // the third waits for one of the others
		{2, 17 * gib, []int64{7 * gib, 5 * gib}, false},
		{1, 11 * gib, []int64{7 * gib, 5 * gib}, true},
		{8, 9 * gib, []int64{6 * gib}, true},
		{8, 8 * gib, []int64{6 * gib}, false},
		{2, 1, nil, true},
	} {
		if got := newLimiter(c.jobs, c.memory).spacious(c.needs); got != c.want {
			t.Errorf("%d jobs in %d bytes, needs %d: %t", c.jobs, c.memory, c.needs, got)
		}
	}
}

func TestMeminfo(t *testing.T) {
	if n := availableMemory(); n <= 0 {
		t.Errorf("%d bytes are free", n)
	}
	if n := number("testdata/none", "MemAvailable:"); n != 0 {
		t.Errorf("%d without a file", n)
	}
}
