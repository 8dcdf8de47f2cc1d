package skew_test

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// SMB is in no payload: the labels of the operator's own image say of which commit
// it is, which a user gives with --image-version.
func TestOperatorsImageNamesItsCommit(t *testing.T) {
	cat := testCatalog(t)
	head := cat.Build("smb").Head("4.21")
	older := cat.Build("smb").Head("4.20")
	for _, tc := range []struct {
		name, linux, windows string
		want, lacks          bool
	}{
		{"one commit", head.Commit, head.Commit, true, false},
		{"another", head.Commit, strings.Repeat("1", 40), false, false},
		{"an upstream image lacks what the fork has picked", head.Commit, "", false, true},
		{"an upstream image, and an older commit of the branch", older.Commit, "", false, false},
		{"no commit is given", "", head.Commit, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			windows := smb("v" + head.Version)
			windows.Version.Commit = tc.windows
			inv := clusterOf("4.21", "10.21.0", windows)
			linux := windows
			linux.OS, linux.OperatorManaged, linux.Object.Name = "linux", true, "smb-csi-driver-node"
			linux.Version = inventory.VersionFact{Version: windows.Version.Version, Known: true, By: "user", Commit: tc.linux}
			inv.Drivers = append(inv.Drivers, linux)
			r, err := skew.Evaluate(cat, inv, skew.Request{From: "4.21"})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Drivers {
				if row.SameCommitNow != tc.want {
					t.Errorf("same commit: %t, want %t: %+v", row.SameCommitNow, tc.want, row)
				}
			}
			told := ""
			for _, f := range ofRule(r, "SKEW001") {
				told += f.Observed + "\n" + strings.Join(f.Evidence, "\n")
			}
			if got := strings.Contains(told, "the same minor, without 2 later commits of upstream's") && strings.Contains(told, "UPSTREAM: 961: fix: enable to use secrets with special characters"); got != tc.lacks {
				t.Errorf("it lacks something: %t, want %t: %s", got, tc.lacks, told)
			}
			if len(r.Drivers) != 1 {
				t.Errorf("%d rows", len(r.Drivers))
			}
		})
	}
}
