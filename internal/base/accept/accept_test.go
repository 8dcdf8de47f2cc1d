package accept

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

func TestParse(t *testing.T) {
	entries, err := parse("a.yaml", []byte("accept:\n- id: HP005\n  reason: in June\n  until: 2026-12-31\n- {id: WIN004, object: 'service a', reason: Wine, until: \"2027-01-01\"}\n"))
	want := []Entry{{"HP005", "", "in June", "2026-12-31", "a.yaml:2:3"}, {"WIN004", "service a", "Wine", "2027-01-01", "a.yaml:5:3"}}
	if err != nil || !slices.Equal(entries, want) {
		t.Errorf("%+v, %v", entries, err)
	}
	if entries, err := parse("a.yaml", nil); err != nil || len(entries) > 0 {
		t.Errorf("of an empty file: %v, %v", entries, err)
	}
	for text, want := range map[string][]string{
		"accept: x":                       {"a.yaml:1:9: must be a list of entries"},
		"accepted: []":                    {`a.yaml:1:1: unknown key "accepted"`},
		"- x":                             {"a.yaml:1:1: must be a mapping"},
		"accept: []\naccept: []":          {`a.yaml:2:1: key "accept" stands here twice`},
		"accept:\n- {id: A, until: x}":    {`a.yaml:2:18: until "x" is no day`},
		"accept:\n- {id: A}\n- {idd: B}":  {"a.yaml:2:3: an entry needs id, reason and until", `a.yaml:3:4: unknown key "idd"`},
		"accept:\n- id: [A]\n  object: 1": {"a.yaml:2:7: must be a string", "a.yaml:3:11: YAML reads 1 as a whole number"},
		"accept:\n- object: ''":           {"a.yaml:2:11: object is empty"},
		"accept: [":                       {"a.yaml:1:1: it isn't YAML: "},
	} {
		_, err := parse("a.yaml", []byte(text))
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %v, want %s", text, err, w)
			}
		}
	}
}

func TestExpired(t *testing.T) {
	entries := []Entry{
		{ID: "A", Until: "2026-11-20", Reason: "today still"},
		{ID: "B", Until: "2026-11-19", Reason: "over", Where: "a.yaml:2:3"},
		{ID: "B", Object: "y", Until: "2026-11-19", Reason: "of another object"},
		{ID: "C", Until: "2026-11-19", Reason: "INFO needs none"},
		{ID: "D", Object: "x", Until: "2026-11-21", Reason: "tomorrow"},
	}
	if rules := Rules(entries, "2026-11-20"); !slices.Equal(rules, []string{"A", "D=x"}) {
		t.Errorf("rules %q", rules)
	}
	found := Expired(entries, []finding.Finding{{ID: "A", Severity: finding.Warn}, {ID: "B", Object: "x", Severity: finding.Block}, {ID: "C", Severity: finding.Info}}, "2026-11-20")
	if len(found) != 1 || found[0].Object != "B" || found[0].Severity != finding.Warn || found[0].Observed != "accepted until 2026-11-19: over" || found[0].Evidence[0] != "a.yaml:2:3" {
		t.Errorf("%+v", found)
	}
}
