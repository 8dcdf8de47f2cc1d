package csidriver_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/manifests/csidriver"
)

// kinds are all that a folder may hold, by the number of the file. A controller
// and a CSIDriver object are the cluster's operator's: neither is among them.
var kinds = map[string]string{
	"01": "Namespace", "02": "ServiceAccount", "03": "RoleBinding", "04": "ClusterRole", "05": "ClusterRoleBinding", "06": "Role", "07": "RoleBinding",
	"08": "DaemonSet", "09": "StorageClass", "10": "Namespace", "11": "PersistentVolumeClaim", "12": "Deployment",
}

// TestOnlyTheNodePart: every file of every folder is one object of its number's
// kind below a comment, those that try the driver in a folder of their own, and
// the one Deployment isn't the driver's.
func TestOnlyTheNodePart(t *testing.T) {
	cat := load(t)
	form := regexp.MustCompile(`^(example/)?(\d\d)-[a-z-]+\.yaml$`)
	folders := 0
	for _, driver := range csidriver.Drivers() {
		for _, r := range releases(cat) {
			for _, namespace := range []string{"", "own"} {
				folder, err := csidriver.Render(cat, csidriver.Options{Driver: driver, For: release(t, r), Namespace: namespace})
				if err != nil {
					continue // TestServed has the reason
				}
				folders++
				var numbers []string
				for _, f := range folder.Files {
					m := form.FindStringSubmatch(f.Name)
					if m == nil || (m[1] != "") != (m[2] >= "09") {
						t.Errorf("%s for %s: a file %s", driver, r, f.Name)
						continue
					}
					numbers = append(numbers, m[2])
					var o struct{ Kind string }
					if err := yaml.Unmarshal(f.Data, &o); err != nil || o.Kind != kinds[m[2]] {
						t.Errorf("%s for %s: %s is a %s: %v", driver, r, f.Name, o.Kind, err)
					}
					text := string(f.Data)
					if !strings.HasPrefix(text, "# ") || strings.Contains(text, "\n---") {
						t.Errorf("%s for %s: %s isn't one object below a comment", driver, r, f.Name)
					}
					if o.Kind == "Deployment" && strings.Contains(text, "serviceAccountName") {
						t.Errorf("%s for %s: %s has rights", driver, r, f.Name)
					}
				}
				if !slices.IsSorted(numbers) || len(slices.Compact(numbers)) != len(folder.Files) {
					t.Errorf("%s for %s: files %v", driver, r, numbers)
				}
			}
		}
	}
	if folders < 80 {
		t.Errorf("only %d folders were tried", folders)
	}
}
