package skew

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// commandLine is a line that is a command.
var commandLine = regexp.MustCompile(`^ +(oc|bake|verify|kubectl|git|skopeo|helm|envsubst|test|for) `)

// An answer is read at night: it is short, and what to do is near its top.
func TestTextIsShort(t *testing.T) {
	most := map[string]int{"PASS": 12, "WARN": 30, "BLOCK": 40, "UNKNOWN": 40}
	lengths, commands := map[string][]int{}, 0
	for _, e := range examples(t) {
		if e.exit == 1 || slices.Contains(e.args, "plan") {
			continue
		}
		lines := strings.Split(strings.TrimSpace(read(t, e.dir+"/expected.txt")), "\n")
		verdict, _, _ := strings.Cut(lines[0], " ")
		lengths[verdict] = append(lengths[verdict], len(lines))
		if first := slices.IndexFunc(lines, commandLine.MatchString); first >= 0 {
			commands++
			if first >= 12 {
				t.Errorf("%s: the first command is in line %d", e.dir, first+1)
			}
		}
	}
	for verdict, all := range lengths {
		slices.Sort(all)
		median := all[len(all)/2]
		t.Logf("%s: %d answers, median of %d lines, at most %d", verdict, len(all), median, all[len(all)-1])
		if median > most[verdict] {
			t.Errorf("%s: median of %d lines, want at most %d", verdict, median, most[verdict])
		}
	}
	if commands < 100 {
		t.Errorf("%d answers with a command: the rest isn't looked at", commands)
	}
}
