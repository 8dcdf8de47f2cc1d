package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limit limit
		got   float64
		met   bool
	}{
		{atLeast(8), 8, true},
		{atLeast(8), 7.99, false},
		{atMost(2), 2, true},
		{atMost(2), 2.01, false},
		// Nothing divided by nothing is no success.
		{atLeast(8), math.NaN(), false},
		{atMost(2), math.NaN(), false},
	} {
		if got := c.limit.met(c.got); got != c.met {
			t.Errorf("%v, %s: %v", c.got, c.limit, got)
		}
	}
}

func TestTable(t *testing.T) {
	tab := table{head: "2 files:"}
	tab.add("pack", seconds(8*time.Second), seconds(time.Second), 8, atLeast(8))
	tab.add("peak", "", "", 151, limit{value: 150, unit: " MB"})
	want := `2 files:

| what | baseline | ours | figure (goal) |
|---|---|---|---|
| pack | 8.00 s | 1.00 s | 8.00 (at least 8) |
| peak |  |  | 151.00 MB (at most 150 MB) MISSED |
`
	if got := tab.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if tab.missed() != 1 {
		t.Errorf("%d missed, want 1", tab.missed())
	}
}

func TestMeasureCountsChildren(t *testing.T) {
	// The work is a grandchild's.
	u, err := measure(t.Context(), "bash", "-c", "bash -c 'for ((i = 0; i < 100000; i++)); do :; done'; true")
	if err != nil {
		t.Fatal(err)
	}
	if u.cpu < 20*time.Millisecond || u.wall < u.cpu/4 || u.peak < 1<<20 {
		t.Errorf("it took %v, at most %d bytes", u, u.peak)
	}
	if _, err := measure(t.Context(), "bash", "-c", "echo the reason >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "the reason") {
		t.Errorf("a failed command gives %v", err)
	}
}

func TestGrowth(t *testing.T) {
	got := growth([]step{{
		fleet: fleet{nodes: 100, windows: 10, pods: 1000, volumes: 200},
		ours:  usage{wall: 140 * time.Millisecond, peak: 58e6}, plain: usage{wall: time.Second, peak: 700e6},
	}})
	const want = "| 100 | 0.14 s, 58.0 MB | 1.00 s, 700.0 MB |\n"
	if !strings.HasSuffix(got, want) || strings.Count(got, "\n") != 3 {
		t.Errorf("%s", got)
	}
}
