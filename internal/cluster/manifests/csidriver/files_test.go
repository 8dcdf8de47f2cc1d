package csidriver_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
)

// kinds are all that a folder may hold, by the number of the file. A controller
// and a CSIDriver object are the cluster's operator's: neither is among them.
var kinds = map[string]string{
	"01": "Namespace", "02": "ServiceAccount", "03": "RoleBinding", "04": "ClusterRole", "05": "ClusterRoleBinding", "06": "Role", "07": "RoleBinding",
	"08": "DaemonSet", "09": "StorageClass", "10": "Namespace", "11": "PersistentVolumeClaim", "12": "Deployment",
}

// TestTryOut: SMB's class isn't applied before it names a share and a Secret
// that are there, and the commands change what the class has.
func TestTryOut(t *testing.T) {
	cat := load(t)
	path := func(name string) string { return "out/" + name }
	for _, driver := range csidriver.Drivers() {
		folder, err := csidriver.Render(cat, csidriver.Options{Driver: driver, For: release(t, "4.20")})
		if err != nil {
			t.Fatal(err)
		}
		commands := folder.TryOut(path)
		if commands[len(commands)-1] != "oc apply -f out/example" || (len(commands) > 1) != (driver == "smb") {
			t.Errorf("%s: %q", driver, commands)
		}
		if driver != "smb" {
			continue
		}
		for _, f := range folder.Files {
			if f.Name != "example/09-storageclass.yaml" {
				continue
			}
			source := regexp.MustCompile(`source: (\S+)`).FindStringSubmatch(string(f.Data))
			if source == nil || !strings.HasPrefix(commands[0], "sed -i 's|"+source[1]+"|//SERVER/SHARE|' out/"+f.Name) {
				t.Errorf("%q doesn't change %q", commands[0], source)
			}
			if !strings.Contains(string(f.Data), commands[2]) || !strings.Contains(commands[2], " create secret generic smbcreds ") {
				t.Errorf("the file and the command differ: %q", commands[2])
			}
		}
		if commands[1] != "oc apply -f out/example/10-namespace.yaml" {
			t.Errorf("the Secret's namespace isn't made first: %q", commands)
		}
	}
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
