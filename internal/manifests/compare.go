package manifests

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// IDs of Compare's findings.
const (
	IDMissing = "services.missing" // a declared service isn't in the cluster's ConfigMap
	IDDiffers = "services.differs" // a service, or another key, is another one there
	IDExtra   = "services.extra"   // a service isn't declared
)

// whyDiffers is why a difference matters.
const whyDiffers = "WMCO sets nodes up as its own ConfigMap says, so they don't run what is declared"

// Compare holds the values of a cluster's ConfigMap to a declared one: a finding
// for each service, and for each other key that the declared one fills. An error is
// that WMCO would refuse the cluster's.
func (c *ConfigMap) Compare(data map[string]string) ([]finding.Finding, error) {
	live, err := ParseData(data)
	if err != nil {
		return nil, err
	}
	declared := byName(c.Services)
	theirs := byName(live.Services)
	var found []finding.Finding
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		f := finding.Finding{ID: IDDiffers, Severity: finding.Pass, Object: "service " + name}
		if there, ok := theirs[name]; !ok {
			f.ID, f.Severity, f.Observed, f.Expected, f.Why = IDMissing, finding.Block, "not there", fmt.Sprint(declared[name]["path"]), whyDiffers
		} else if f.Observed, f.Expected = differing(there, declared[name]); f.Observed != "" {
			f.Severity, f.Why = finding.Block, whyDiffers
		}
		found = append(found, f)
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if declared[name] == nil {
			found = append(found, finding.Finding{ID: IDExtra, Severity: finding.Warn, Object: "service " + name, Observed: fmt.Sprint(theirs[name]["path"]), Expected: "not there", Why: "it runs on nodes, and nothing declares it"})
		}
	}
	here := fields(map[string]any{keyFiles: c.Files, keyEnvironment: c.Environment, keyWatched: c.Watched})
	there := fields(map[string]any{keyFiles: live.Files, keyEnvironment: live.Environment, keyWatched: live.Watched})
	maps.DeleteFunc(here, func(_ string, v any) bool { return v == nil || reflect.ValueOf(v).Len() == 0 })
	maps.DeleteFunc(there, func(key string, _ any) bool { return here[key] == nil })
	if observed, expected := differing(there, here); observed != "" {
		found = append(found, finding.Finding{ID: IDDiffers, Severity: finding.Block, Object: "ConfigMap", Observed: observed, Expected: expected, Why: whyDiffers})
	}
	return found, nil
}

func byName(services []ServiceEntry) map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, s := range services {
		all[s.Name] = fields(s)
	}
	return all
}

func fields(v any) map[string]any {
	text, _ := json.Marshal(v) // strings, numbers and lists of them
	var m map[string]any
	_ = json.Unmarshal(text, &m)
	return m
}

// differing are the keys of two objects that differ, with both values.
func differing(observed, expected map[string]any) (a, b string) {
	all := maps.Clone(observed)
	maps.Copy(all, expected)
	var as, bs []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(observed[key], expected[key]) {
			as, bs = append(as, value(key, observed[key])), append(bs, value(key, expected[key]))
		}
	}
	return strings.Join(as, "; "), strings.Join(bs, "; ")
}

func value(key string, v any) string {
	if s, ok := v.(string); ok {
		return key + " " + s
	}
	text, _ := json.Marshal(v)
	return key + " " + string(text)
}
