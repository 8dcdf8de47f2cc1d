package cluster_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// docs/cluster.md tells of each right what it is for, and of no other.
func TestDocsTellEveryRight(t *testing.T) {
	src, err := os.ReadFile("../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(string(src)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[2], "`") {
			continue
		}
		if strings.TrimSpace(cells[3]) == "" {
			t.Errorf("what for? %s", line)
		}
		for verb := range strings.SplitSeq(cells[1], ",") {
			told = append(told, strings.TrimSpace(verb)+" "+strings.ReplaceAll(strings.TrimSpace(cells[2]), "`", ""))
		}
	}
	var granted []string
	rights := documented(t)
	granted = append(granted, words(rights.Cluster, "")...)
	for namespace, rules := range rights.Namespaced {
		granted = append(granted, words(rules, " in "+namespace)...)
	}
	slices.Sort(told)
	slices.Sort(granted)
	if !slices.Equal(told, granted) {
		t.Errorf("the document tells of\n%s\nand the role grants\n%s", strings.Join(told, "\n"), strings.Join(granted, "\n"))
	}
}

// words are rules as the document writes them.
func words(rules []rbacv1.PolicyRule, where string) []string {
	var out []string
	for _, r := range rules {
		for _, verb := range r.Verbs {
			for _, url := range r.NonResourceURLs {
				out = append(out, verb+" "+url)
			}
			for i, resource := range r.Resources {
				name := resource
				if r.APIGroups[i] != "" {
					name += "." + r.APIGroups[i]
				}
				for _, only := range r.ResourceNames {
					name += "/" + only
				}
				out = append(out, verb+" "+name+where)
			}
		}
	}
	return out
}
