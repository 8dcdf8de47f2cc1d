package skew

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// commandLine is a line that is a command.
var commandLine = regexp.MustCompile(`^ +(oc|bake|verify|kubectl|git|skopeo|helm|envsubst|test|for) |^ +\($`)

// An answer is read at night: it is short, and what to do is near its top.
func TestTextIsShort(t *testing.T) {
	most := map[string]int{"PASS": 12, "WARN": 30, "BLOCK": 40, "UNKNOWN": 40}
	lengths, commands := map[string][]int{}, 0
	for _, e := range examples(t) {
		if e.exit == 1 || slices.Contains(e.args, "plan") {
			continue
		}
		text := strings.TrimSpace(read(t, e.dir+"/expected.txt"))
		lines := strings.Split(text, "\n")
		verdict, _, _ := strings.Cut(lines[0], " ")
		lengths[verdict] = append(lengths[verdict], len(lines))
		if first := slices.IndexFunc(lines, commandLine.MatchString); first >= 0 {
			commands++
			if until := strings.Index(text, "nothing before the update"); until < 0 && first >= 15 {
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

// spelled is a command line in a sentence.
var spelled = regexp.MustCompile(`(^|[^\w./-])(oc (-n|--\w|adm|apply|auth|create|delete|describe|get|label|login|logs|patch|replace|rollout|set)|(verify|bake) (catalog|driver|inventory|manifests|services|skew)|helm (get|install|template|upgrade)|skopeo (copy|inspect)|git (checkout|clone)|(kubectl|kustomize|envsubst|ytt|sha256sum) [\w<-])`)

// A command is a value of an action, which is copied, quoted and run: no sentence
// has one.
func TestNoSentenceHasACommand(t *testing.T) {
	commands := 0
	for _, e := range examples(t) {
		if e.exit == 1 {
			continue
		}
		var answer any
		if err := json.Unmarshal([]byte(e.json(t)), &answer); err != nil {
			t.Fatal(err)
		}
		sentences(answer, "", func(field, text string) {
			switch field {
			case "commands", "wait", "undo", "done", "final", "command", "commandLine", "evidence":
				commands++
			default:
				if spelled.MatchString(text) {
					t.Errorf("%s: %s: %s", e.dir, field, text)
				}
			}
		})
	}
	if commands < 1000 {
		t.Errorf("%d commands: their fields have other names now", commands)
	}
}

// sentences visits each text of an answer with the name of its field.
func sentences(of any, field string, visit func(field, text string)) {
	switch of := of.(type) {
	case map[string]any:
		for name, v := range of {
			if name != "coverage" { // what to run, by resource
				sentences(v, name, visit)
			}
		}
	case []any:
		for _, v := range of {
			sentences(v, field, visit)
		}
	case string:
		visit(field, of)
	}
}
