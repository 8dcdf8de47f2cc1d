package skew

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// played is oc for a cluster of one gate and one DaemonSet, whose state is files.
const played = `#!/bin/bash
echo "$*" >> log
case "$*" in
*"patch configmap admin-acks"*null*) rm -f acked ;;
*"patch configmap admin-acks"*) touch acked ;;
*"get configmap admin-acks"*) if [ -e acked ]; then echo true; fi ;;
*"upgrade channel"*) echo "${@: -1}" > channel ;;
*"jsonpath={.spec.channel}"*) cat channel ;;
*"upgrade --to="*) echo "$*" | sed 's/.*--to=//' > release ;;
*"status.history"*) cat release ;;
*"get nodes"*) if [ -e release ]; then echo 10.20.0-abc; fi ;;
*"get daemonset"*jsonpath*) if [ -e replaced ]; then echo registry.k8s.io/csi-vsphere/driver:v3.5.0; fi ;;
*"get daemonset"*yaml*) printf 'metadata:\n  uid: 7\n  resourceVersion: "8"\n  name: x\n' ;;
"replace --dry-run=server "*) echo new ;;
"get -f "*) if [ -e replaced ]; then echo new; else echo old; fi ;;
"apply -f "*) echo clusterrole.rbac.authorization.k8s.io/x created ;;
"replace -f "*old.yaml) rm replaced ;;
"replace -f "*) if [ -e broken ]; then exit 1; fi; touch replaced ;;
esac
`

// playedBake is bake, as far as the script looks at what it writes.
const playedBake = `#!/bin/bash
mkdir -p "${@: -1}" && echo new > "${@: -1}/08-daemonset.yaml"
`

// The script asks, stops where a step fails, goes on from there, has nothing to do
// when all is done, and takes back what can be.
func TestScriptOfAPlan(t *testing.T) {
	r := run(t, "skew", "plan", "--from", "4.19", "--to", "4.20", "--manifests", "testdata/01-vsphere-4.19-4.20/in", "-o", "script")
	if r.exit != 0 {
		t.Fatal(r.stderr)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"plan.sh": r.stdout, "oc": played, "bake": playedBake, "verify": "#!/bin/sh\n", "broken": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bash := func(want int, input string, args ...string) string {
		t.Helper()
		cmd := exec.Command("bash", append([]string{"plan.sh"}, args...)...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
		cmd.Env = append(os.Environ(), "OC=./oc", "BAKE=./bake", "VERIFY=./verify", "POLL=0")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Fatalf("%v: exit %d, want %d\n%s", args, code, want, out)
		}
		return string(out)
	}
	is := func(name string, want bool) {
		t.Helper()
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %t", name, !want)
		}
	}
	if out := bash(3, "", "--yes"); !strings.Contains(out, "step 1.1 needs a person") {
		t.Errorf("--yes passes a gate:\n%s", out)
	}
	is("acked", false)
	if out := bash(3, "n\n"); !strings.Contains(out, "not confirmed") {
		t.Error(out)
	}
	is("acked", false)
	if out := bash(3, "y\ny\n4.20.7\ny\ny\n"); !strings.Contains(out, "step 4.1 failed") {
		t.Errorf("a step that fails doesn't stop it:\n%s", out)
	}
	if err := os.Remove(filepath.Join(dir, "broken")); err != nil {
		t.Fatal(err)
	}
	if out := bash(0, "y\ny\n"); strings.Count(out, "done already") != 4 {
		t.Errorf("it doesn't go on where it stopped:\n%s", out)
	}
	is("replaced", true)
	if out := bash(0, "", "--yes"); strings.Count(out, "done already") != 5 {
		t.Errorf("the second run does something:\n%s", out)
	}
	saved, err := os.ReadFile(filepath.Join(dir, "openshift-cluster-csi-drivers.vmware-vsphere-csi-driver-node-windows-old.yaml"))
	if err != nil || string(saved) != "metadata:\n  name: x\n" {
		t.Errorf("saved %q: %v", saved, err)
	}
	if out := bash(0, "", "--yes", "--rollback"); !strings.Contains(out, "no way back") {
		t.Errorf("the rollback hides what it can't take back:\n%s", out)
	}
	is("replaced", false)
	is("acked", false)
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || !strings.Contains(string(log), "delete --ignore-not-found clusterrole.rbac.authorization.k8s.io/x") {
		t.Errorf("the rollback doesn't delete what was made, by OC: %v\n%s", err, log)
	}
}
