package skew_test

import (
	"slices"
	"testing"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// A rule that had nothing to go by is named, and says nothing.
func TestStorageRulesNeed(t *testing.T) {
	for _, tc := range []struct {
		lacks inventory.Resource
		rules []string
	}{
		{inventory.Nodes, []string{"PROXY001", "PROXY002", "PROXY004", "PROXY005", "PROXY006", "PROXY007", "REG001", "INTREE001", "INTREE003", "AFTER003", "AFTER004"}},
		{inventory.CSINodes, []string{"REG001", "INTREE001", "AFTER003"}},
		{inventory.Pods, []string{"REG001", "INTREE001", "INTREE002", "AFTER003"}},
		{inventory.Claims, []string{"AFTER002"}},
		{inventory.DaemonSets, []string{"PROXY001", "PROXY003", "REG002", "REG003", "REG004", "INTREE004", "AFTER001"}},
	} {
		for _, static := range []bool{false, true} {
			inv := storageCluster("4.19", "10.19.1")
			unread(tc.lacks)(inv)
			res, err := skew.Evaluate(testCatalog(t), inv, skew.Request{From: "4.19", To: "4.20", Static: static, Now: "2026-11-21"})
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range tc.rules {
				if !slices.ContainsFunc(res.NotEvaluated, func(n skew.NotEvaluated) bool { return n.Rule == id && n.Reason != "" }) {
					t.Errorf("without %s, %s isn't listed as not evaluated", tc.lacks, id)
				}
			}
		}
	}
}

// Every rule on storage explains itself.
func TestStorageRulesExplain(t *testing.T) {
	for _, id := range []string{"PROXY001", "PROXY002", "PROXY003", "PROXY004", "PROXY005", "PROXY006", "PROXY007", "REG001", "REG002", "REG003", "REG004",
		"INTREE001", "INTREE002", "INTREE003", "INTREE004", "INTREE005", "AFTER001", "AFTER002", "AFTER003", "AFTER004"} {
		r, ok := skew.Explain(id)
		if !ok || r.Title == "" || r.Ground == "" || r.Source == "" || r.Text == "" {
			t.Errorf("%s: %+v, %v", id, r, ok)
		}
	}
}
