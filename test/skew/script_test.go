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
cd "$PLAYED"
echo "$*" >> log
while [[ $1 == --* ]]; do shift; done
case "$*" in
*"get clusterversion/version"*clusterID*) cat id ;;
*"patch configmap/admin-acks"*null*) rm -f acked ;;
*"patch configmap/admin-acks"*) touch acked ;;
*"get configmap/admin-acks"*) if [ -e acked ]; then echo true; fi ;;
*"upgrade channel"*) echo "${@: -1}" > channel ;;
*"jsonpath={.spec.channel}"*) cat channel ;;
*"upgrade --to="*) echo "$*" | sed 's/.*--to=//' > release ;;
*"status.history"*) cat release ;;
*"get nodes"*) if [ -e release ]; then echo 10.20.0-abc; fi ;;
*"get daemonset/"*jsonpath*) if [ -e replaced ]; then echo registry.k8s.io/csi-vsphere/driver:v3.5.0; fi ;;
*"get daemonset/"*yaml*) printf 'metadata:\n  uid: 7\n  resourceVersion: "8"\n  name: x\n' ;;
"replace --dry-run=server "*) echo new ;;
"get -f "*) if [ -e replaced ]; then echo new; else echo old; fi ;;
"apply -f "*) echo clusterrole.rbac.authorization.k8s.io/x created ;;
"replace -f "*old.yaml) rm replaced ;;
"replace -f "*) if [ -e broken ]; then exit 1; fi; touch replaced ;;
esac
`

// playedVerify is verify, which finds something or not.
const playedVerify = `#!/bin/bash
echo "verify $*" >> "$PLAYED/log"
[ ! -e "$PLAYED/blocked" ]
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
	for name, text := range map[string]string{"plan.sh": r.stdout, "oc": played, "bake": playedBake, "verify": playedVerify, "id": "one", "broken": "", "blocked": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"CLUSTER=one"}
	bash := func(want int, input string, args ...string) string {
		t.Helper()
		cmd := exec.Command("bash", append([]string{"plan.sh"}, args...)...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
		cmd.Env = append(append(os.Environ(), "OC=./oc", "BAKE=./bake", "VERIFY=./verify", "POLL=0", "PLAYED="+dir), env...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Fatalf("%v: exit %d, want %d\n%s", args, code, want, out)
		}
		return string(out)
	}
	says := func(out string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(out, part) {
				t.Fatalf("%q isn't in:\n%s", part, out)
			}
		}
	}
	is := func(name string, want bool) {
		t.Helper()
		if found, _ := filepath.Glob(filepath.Join(dir, name)); (len(found) > 0) != want {
			t.Errorf("%s is there: %t", name, !want)
		}
	}
	remove := func(name string) {
		t.Helper()
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	// A plan from files has no ID: a person says which cluster it is for.
	env = nil
	says(bash(3, "", "--yes"), "the plan was made without the cluster's ID: CLUSTER=one")
	says(bash(3, "n\n"), "not confirmed")
	is("one-4.19-4.20", false)
	env = []string{"CLUSTER=two"}
	says(bash(1, "", "--yes"), "this plan is for the cluster two, and oc reaches one")
	is("one-4.19-4.20", false)
	env = []string{"CLUSTER=one"}

	says(bash(3, "", "--yes"), "step 1.1 needs a person")
	says(bash(3, "n\n"), "not confirmed")
	is("acked", false)
	says(bash(3, "y\ny\n4.20.7\ny\ny\n"), "step 2.2 failed")
	is("release", false)
	// Before the update all has a way back.
	says(bash(0, "", "--yes", "--rollback"), "Undo step 1.1", "All that has a way back is undone")
	is("acked", false)
	is("one-4.19-4.20", false)
	is("one-4.19-4.20-undone-*", true)

	remove("blocked")
	remove("channel")
	says(bash(3, "y\ny\n4.20.7\ny\ny\n"), "step 4.1 failed")
	remove("broken")
	if out := bash(0, "y\ny\n"); strings.Count(out, "done already") != 4 {
		t.Errorf("it doesn't go on where it stopped:\n%s", out)
	}
	is("replaced", true)
	if out := bash(0, "", "--yes", "--kubeconfig", "k", "--context=c d"); strings.Count(out, "done already") != 5 {
		t.Errorf("the second run does something:\n%s", out)
	}
	saved, err := os.ReadFile(filepath.Join(dir, "one-4.19-4.20", "openshift-cluster-csi-drivers.vmware-vsphere-csi-driver-node-windows-old.yaml"))
	if err != nil || string(saved) != "metadata:\n  name: x\n" {
		t.Errorf("saved %q: %v", saved, err)
	}
	says(bash(0, "", "--yes", "--rollback"), "Step 2.2, update the cluster to 4.20: no way back", "The rollback ends here")
	is("replaced", false)
	is("acked", true)
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	says(string(log), "delete --ignore-not-found clusterrole.rbac.authorization.k8s.io/x", "verify skew --to=4.20.7\n",
		"--kubeconfig="+dir+"/k --context=c d get clusterversion/version -o jsonpath={.spec.clusterID}\n", "verify skew --kubeconfig="+dir+"/k --context=c d\n")
}

// A failing undo is told at the end, and keeps none of the others from running.
func TestScriptUndoesTheRest(t *testing.T) {
	dir := t.TempDir()
	script := `#!/bin/bash
program=oc identity=clusterversion/version id={.spec.clusterID} cluster=one folder=a-b kubeconfig= context=
` + frame(t) + `
undo_1_1() (
set -e
echo first undone
)
step 1_1 "" first "" "" "" false
undo_2_1() (
set -e
false
echo not reached
)
step 2_1 "" second "" "" "" false
`
	head, foot, _ := strings.Cut(script, "# STEPS\n")
	_, steps, _ := strings.Cut(foot, "\nundo_1_1")
	steps = "\nundo_1_1" + steps
	foot = strings.TrimSuffix(foot, steps)
	if err := os.MkdirAll(filepath.Join(dir, "one-a-b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"plan.sh": head + steps + foot, "oc": "#!/bin/sh\necho one\n", "one-a-b/begun": "first\nsecond\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "plan.sh", "--yes", "--rollback")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "OC=./oc")
	out, _ := cmd.CombinedOutput()
	if text := string(out); cmd.ProcessState.ExitCode() != 3 || !strings.Contains(text, "\nfirst undone\n") || !strings.Contains(text, "undoing failed: 2.1") || strings.Contains(text, "\nnot reached") {
		t.Errorf("exit %d\n%s", cmd.ProcessState.ExitCode(), text)
	}
}

// frame is what is around a script's steps.
func frame(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../internal/report/skewreport/script.sh")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
