package skewreport

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

// TestClusters: of many clusters people see the worst first, those alike in the
// order that they were named in, and programs see all in that order. An error is
// one line.
func TestClusters(t *testing.T) {
	gone := &fault.Error{Where: "https://api.gone:6443", What: "the API server doesn't answer", Excerpt: "no such host", Fix: "kubectl get nodes"}
	var fleet []Cluster
	for _, c := range []Cluster{{Report: safe()}, {Err: gone}, {Report: mixed()}, {Report: safe()}, {Err: gone}, {Report: mixed()}} {
		c.Context = "c" + string(rune('0'+len(fleet)))
		fleet = append(fleet, c)
	}
	var one strings.Builder
	if err := WriteClusters(&one, "text", fleet[:1], Options{}); err != nil || !strings.Contains(one.String(), "\n1 cluster: 1 PASS\n") {
		t.Errorf("%v\n%s", err, &one)
	}
	for format, want := range map[string]string{"text": "c2 c5 c1 c4 c0 c3", "html": "c2 c5 c1 c4 c0 c3", "json": "c0 c1 c2 c3 c4 c5"} {
		var b strings.Builder
		if err := WriteClusters(&b, format, fleet, Options{}); err != nil {
			t.Fatal(err)
		}
		at := func(name string) int {
			return strings.Index(b.String(), map[string]string{"text": "\n" + name + " ", "html": ">" + name + "<", "json": `"context": "` + name + `"`}[format])
		}
		names := []string{"c0", "c1", "c2", "c3", "c4", "c5"}
		slices.SortFunc(names, func(a, b string) int { return at(a) - at(b) })
		if got := strings.Join(names, " "); got != want || at(names[0]) < 0 {
			t.Errorf("%s: %s\n%s", format, got, &b)
		}
		if said := "the API server doesn&#39;t answer: no such host; fix: kubectl get nodes"; format == "html" && strings.Count(b.String(), said) != 2 {
			t.Errorf("not %q:\n%s", said, &b)
		}
	}
}
