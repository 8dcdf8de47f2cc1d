package action_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

var (
	present  = inventory.Object{Kind: "DaemonSet", Namespace: "openshift-cluster-csi-drivers", Name: "vsphere-windows"}
	homeless = inventory.Object{Kind: "DaemonSet", Name: "a b'; rm -rf $HOME"}
)

// every is one of each type, with names that a shell would read otherwise.
func every() []action.Action {
	v := version.MustDriver("3.5.0")
	becomes := inventory.Driver{Object: present, OS: "windows", Provisioner: "csi.vsphere.vmware.com", HostProcess: true,
		Image: inventory.Image{Reference: "registry.k8s.io/csi-vsphere/driver:v3.5.0"}, Version: inventory.VersionFact{Version: v, Known: true}}
	return []action.Action{
		action.ByHand{Text: "correct its path", Object: present.String(), Save: &present, Becomes: &becomes},
		action.ByHand{Text: "look", Look: [][]string{{"oc", "get", "nodes"}}},
		action.Check{},
		action.Check{Built: "4.20", Files: []string{"vsphere 4.20.txt"}},
		action.ReadPayload{Text: "give its payload"},
		action.Gather{Text: "give them to the check", Get: []string{"get", "csinodes", "-o", "yaml"}, File: "csi nodes.yaml"},
		action.SetPodSecurity{Namespace: "csi", Was: &inventory.Namespace{Enforce: "restricted"}},
		action.BindSCC{Namespace: "csi", Account: "driver"},
		action.AckGate{Key: "ack-4.13-kube-1.27-api-removals-in-4.14", Applies: "every cluster"},
		action.SetChannel{Channel: "stable-4.20", Was: "stable-4.19"},
		action.SetChannel{Channel: "eus-4.20"},
		action.UpdateControlPlane{To: release("4.20")},
		action.UpdateControlPlane{To: release("4.20.3"), Kubernetes: "1.33"},
		action.UpdateControlPlane{To: release("4.20.3"), Hosted: true, Channel: "stable-4.20", Risky: true, AWS: true},
		action.PausePool{Pool: "worker"},
		action.PausePool{Pool: "worker", Resume: true},
		action.PausePool{Pool: "infra", Resume: true, Was: true},
		action.UpdateWMCO{OpenShift: "4.20", WMCO: "10.20.0", Kubernetes: "1.33"},
		action.RemoveWMCO{To: version.OpenShift{Major: 4, Minor: 20, Patch: -1}},
		action.UpdateWMCO{Again: true, OpenShift: "4.20", WMCO: "10.20.0", Kubernetes: "1.33"},
		action.UpdateWMCO{OpenShift: "4.14", WMCO: "9.0.0", Held: true},
		action.UpdateWMCO{OpenShift: "4.20", WMCO: "10.20.0", Unseen: true},
		action.ReleaseNodes{Provisioner: "csi.vsphere.vmware.com", WMCO: "9.0.0"},
		action.ReleaseNodes{WMCO: "8.1.0"},
		action.FinishWMCO{CSV: inventory.ClusterServiceVersion{Object: inventory.Object{Kind: "ClusterServiceVersion", Namespace: "wmco", Name: "windows-machine-config-operator.v10.19.1"}, Phase: "Failed"}},
		action.SetImage{Object: present, Container: "driver", Was: "a/b:v1.0.0", Image: "a/b:v2.0.0", To: version.MustDriver("2.0.0")},
		action.SetImage{Object: homeless, Image: "a/b:v2.0.0", Digest: true, From: "c/d:v2.0.0", Strategy: "OnDelete"},
		action.BuildImage{SetImage: action.SetImage{Object: present, Container: "driver", Was: "a/b:v1.0.0", Image: action.Built("vsphere 4.15.txt"), To: version.MustDriver("3.0.2")},
			Release: "4.15", Bake: []string{"vsphere", "--for", "4.15"}, Bases: []string{"c/d:ltsc2022", "c/d:ltsc2019"}, Why: "there is none"},
		action.BuildImage{SetImage: action.SetImage{Object: homeless, Image: action.Built("x.txt"), Strategy: "OnDelete"}, Release: "4.15"},
		action.ReplaceDriver{Object: present, Title: "vSphere", Version: v, Bake: []string{"--for", "4.20"}, Access: []string{"03-scc.yaml"}, DaemonSet: "08-daemonset.yaml", Folder: "vsphere-4.20", Image: "r/d:v3.5.0", Becomes: becomes},
		action.DeployDriver{Title: "vSphere", Version: v, Bake: []string{"vsphere", "--for", "4.20"}, Folder: "vsphere-4.20", Becomes: becomes},
		action.DeleteDaemonSet{Object: homeless, Without: "for a minute"},
		action.HandOver{Object: homeless, Provisioner: "csi.vsphere.vmware.com"},
		action.EditDriver{Object: present, Text: "give the flag", Flags: &action.Flags{
			Container: "driver", Call: inventory.Call{At: "/spec/template/spec/containers/1", Args: []string{"--v=2", "--it's=<$HOME>"}}, Give: "--flag=true"}},
		action.EditDriver{Object: present, Text: "remove the marks", Patch: `{"metadata":{"ownerReferences":null}}`},
		action.WaitRollout{Object: present, Strategy: "OnDelete"},
		action.WaitRollout{Object: present, Ready: 3},
		action.UnlabelNodes{Nodes: []string{"win 1", "win-2"}, Key: "example.com/held", Value: "it's"},
		action.ByOwner{Owner: inventory.Owner{Manager: "Helm", Kind: "release", Namespace: "csi", Name: "windows"}, Change: action.SetImage{Object: homeless, Image: "a/b:v2.0.0", Digest: true}},
	}
}

func release(s string) version.OpenShift {
	v, err := version.ParseOpenShift(s)
	if err != nil {
		panic(err)
	}
	return v
}

// What bash reads is what was meant: no placeholder is a redirection, no name is
// more than a word, and a value that isn't known is asked for.
func TestCommandsAreShell(t *testing.T) {
	for _, a := range every() {
		r := action.Record(a)
		if r.Kind == "" || r.Summary == "" || strings.Contains(r.Summary, "\n") {
			t.Errorf("%T says %q of kind %q", a, r.Summary, r.Kind)
		}
		for _, line := range lines(r) {
			if out, err := exec.Command("bash", "-n", "-c", line).CombinedOutput(); err != nil {
				t.Errorf("%T: bash can't read %s\n%s", a, line, out)
			}
			if strings.Contains(line, "<") {
				t.Errorf("%T: a placeholder, which is a redirection: %s", a, line)
			}
			for _, ask := range []string{"NAMESPACE", "CONTAINER", "DIGEST", "TO", "RELEASE", "REGISTRY", "OPERATORS"} {
				asked := false
				for _, have := range r.Asks {
					asked = asked || have.Name == ask && have.Text != ""
				}
				if strings.Contains(line, `"${`+ask+`:?}"`) && !asked {
					t.Errorf("%T uses $%s and doesn't ask for it: %s", a, ask, line)
				}
			}
		}
	}
}

// Pods that don't get ready end the wait of an OnDelete DaemonSet too.
func TestOnDeleteEnds(t *testing.T) {
	wait := lines(action.Record(action.WaitRollout{Object: inventory.Object{Kind: "DaemonSet", Namespace: "csi", Name: "windows"}, Strategy: "OnDelete"}))
	for said, want := range map[string]int{"ready": 0, "": 1} {
		script := `sleep() { :; }
oc() { case "$*" in *matchLabels*) echo ,app=csi ;; *controllerrevisions*) echo new ;; *"get pods"*) echo pod/a ;; *numberReady*) echo ` + said + ` ;; esac; }
` + strings.Join(wait, "\n")
		cmd := exec.Command("bash", "-c", script)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != want || (want != 0) != strings.Contains(string(out), "after pod/a was deleted") {
			t.Errorf("%q: exit %d, want %d\n%s", said, cmd.ProcessState.ExitCode(), want, out)
		}
	}
}

// Each kind that a file has is one of an action's, and the other way round.
func TestEveryKindIsWritten(t *testing.T) {
	names, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]any{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if name == "partials.yaml" {
			continue
		}
		if err != nil || yaml.Unmarshal(text, &kinds) != nil {
			t.Fatal(name, err)
		}
		if _, err := os.Stat(strings.TrimSuffix(name, ".yaml") + ".go"); err != nil {
			t.Error(err)
		}
	}
	for _, a := range every() {
		kind := action.Record(a).Kind
		if _, ok := kinds[kind]; !ok && kind != "by-owner" {
			t.Errorf("%T: no file has %s, so it says nothing", a, kind)
		}
		kinds[kind] = nil
	}
	for kind, form := range kinds {
		if form != nil {
			t.Errorf("no action of kind %s is tried", kind)
		}
	}
}

func lines(r finding.Action) []string {
	all := append(append(append([]string{}, r.Commands...), r.Wait...), r.Undo...)
	if r.Done != "" {
		all = append(all, r.Done)
	}
	return all
}

// What changes a cluster says how to go back, or why nobody can.
func TestEveryChangeHasAWayBack(t *testing.T) {
	for _, a := range every() {
		r := action.Record(a)
		hand, byHand := a.(action.ByHand)
		reads := byHand && hand.Becomes == nil || r.Kind == "gather" || r.Kind == "check" || r.Kind == "read-payload" || r.Kind == "wait-rollout" || r.Kind == "finish-wmco"
		back := len(r.Undo) > 0 || r.NoUndo != ""
		if reads == back {
			t.Errorf("%T (%s): undo %q, noUndo %q", a, r.Summary, r.Undo, r.NoUndo)
		}
	}
}

// A namespace that a manifest leaves out is one value in all lines of an action.
func TestNamespaceIsAskedForOnce(t *testing.T) {
	r := action.Record(action.DeleteDaemonSet{Object: homeless})
	if len(r.Asks) != 1 || r.Asks[0].Name != "NAMESPACE" {
		t.Errorf("%+v", r.Asks)
	}
	for _, line := range r.Commands {
		if !strings.Contains(line, `-n "${NAMESPACE:?}"`) {
			t.Error(line)
		}
	}
}

func TestApply(t *testing.T) {
	inv := func() *inventory.Inventory {
		return &inventory.Inventory{
			Cluster:  inventory.Cluster{OpenShift: "4.19.3", Kubernetes: "1.32", WMCO: "10.19.1"},
			Nodes:    []inventory.Node{{Name: "win-1", WMCO: "10.19.1", Kubelet: "v1.32.5"}},
			CSINodes: []inventory.CSINode{{Name: "win-1"}},
			Drivers: []inventory.Driver{
				{Object: present, OS: "windows", Provisioner: "p", Rollout: &inventory.Rollout{Desired: 3, Ready: 1}},
				{Object: inventory.Object{Kind: "DaemonSet", Name: "linux"}, OS: "linux", OperatorManaged: true},
			},
		}
	}
	i := inv()
	action.Apply(i, action.SetImage{Object: present, Image: "a/b:v2.0.0", To: version.MustDriver("2.0.0")})
	if d := i.Drivers[0]; d.Version.Version.Core() != "2.0.0" || d.Image.Tag != "v2.0.0" || d.Rollout != nil || len(i.CSINodes[0].Drivers) != 1 {
		t.Errorf("%+v %+v", d, i.CSINodes)
	}
	action.Apply(i, action.UpdateControlPlane{To: release("4.20"), Kubernetes: "1.33", Linux: []inventory.Object{i.Drivers[1].Object}})
	if len(i.Drivers) != 1 || i.Cluster.OpenShift != "4.20" || i.Cluster.Kubernetes != "1.33" {
		t.Errorf("%+v", i)
	}
	action.Apply(i, action.UpdateWMCO{OpenShift: "4.20", WMCO: "10.20.0", Kubernetes: "1.33"})
	if n := i.Nodes[0]; n.WMCO != "10.20.0" || n.Kubelet != "v1.33.0" {
		t.Errorf("%+v", n)
	}
	action.Apply(i, action.DeleteDaemonSet{Object: present})
	if len(i.Drivers) != 0 {
		t.Errorf("%+v", i.Drivers)
	}
}

// What a patch of a container's call does in the forms that manifests have.
func TestFlags(t *testing.T) {
	const at = "/spec/template/spec/containers/1"
	test := `{"op":"test","path":"` + at + `/name","value":"driver"}`
	for name, c := range map[string]struct {
		flags action.Flags
		patch string
	}{
		"added": {action.Flags{Call: inventory.Call{Args: []string{"--v=2"}}, Drop: []string{"--host"}, Give: "--host=true"},
			`,{"op":"test","path":"` + at + `/args","value":["--v=2"]},{"op":"add","path":"` + at + `/args","value":["--v=2","--host=true"]}`},
		"to none": {action.Flags{Drop: []string{"--host"}, Give: "--host=true"}, `,{"op":"add","path":"` + at + `/args","value":["--host=true"]}`},
		"in its place": {action.Flags{Call: inventory.Call{Command: []string{"driver.exe", "-host=false", "--v=2"}}, Drop: []string{"--host"}, Give: "--host=true"},
			`,{"op":"test","path":"` + at + `/command","value":["driver.exe","-host=false","--v=2"]},{"op":"add","path":"` + at + `/command","value":["driver.exe","--host=true","--v=2"]}`},
		"removed, twice": {action.Flags{Call: inventory.Call{Args: []string{"--host", "--v=2", "--host=1"}}, Drop: []string{"--host"}},
			`,{"op":"test","path":"` + at + `/args","value":["--host","--v=2","--host=1"]},{"op":"add","path":"` + at + `/args","value":["--v=2"]}`},
		"the last one": {action.Flags{Call: inventory.Call{Args: []string{"--host=$(HOST)"}}, Drop: []string{"--host"}},
			`,{"op":"test","path":"` + at + `/args","value":["--host=$(HOST)"]},{"op":"remove","path":"` + at + `/args"}`},
		"of a line": {action.Flags{Call: inventory.Call{Args: []string{"/c", "driver.exe --other=1 --v=2"}}, Drop: []string{"--other", "--host"}, Give: "--host=true"},
			`,{"op":"test","path":"` + at + `/args","value":["/c","driver.exe --other=1 --v=2"]},{"op":"add","path":"` + at + `/args","value":["/c","driver.exe --host=true --v=2"]}`},
		"a longer name": {action.Flags{Call: inventory.Call{Args: []string{"--hosts=a"}}, Drop: []string{"--host"}, Give: "--host=true"},
			`,{"op":"test","path":"` + at + `/args","value":["--hosts=a"]},{"op":"add","path":"` + at + `/args","value":["--hosts=a","--host=true"]}`},
	} {
		c.flags.Container, c.flags.Call.At = "driver", at
		r := action.Record(action.EditDriver{Object: present, Flags: &c.flags})
		if want := "'[" + test + c.patch + "]'"; !c.flags.Known() || !strings.HasSuffix(r.Commands[1], " --type=json --patch "+want) {
			t.Errorf("%s: %s\nwant %s", name, r.Commands[1], want)
		}
	}
	for name, f := range map[string]action.Flags{
		"nothing was read":              {Drop: []string{"--host"}, Give: "--host=true"},
		"nothing to remove":             {Call: inventory.Call{At: at, Args: []string{"$(HOST)"}}, Drop: []string{"--host"}},
		"a line that may end elsewhere": {Call: inventory.Call{At: at, Command: []string{"powershell", "driver.exe --v=2; wait"}}, Drop: []string{"--host"}, Give: "--host=true"},
	} {
		if f.Known() {
			t.Errorf("%s, and a patch is made", name)
		}
	}
}

// What is edited before a pod is replaced whole counts as done afterwards.
func TestEditBeforeReplacement(t *testing.T) {
	edit := action.EditDriver{Object: present, Patch: "{}"}
	replace := action.ReplaceDriver{Object: present, Image: "r/d:v3.5.0"}
	steps := action.Sequence([][]action.Action{{edit}, {replace}})
	if done := steps[0][0].Done; !strings.Contains(done, "|| oc ") || !strings.HasSuffix(done, " r/d:v3.5.0") {
		t.Error(done)
	}
	if done := action.Record(edit).Done; strings.Contains(done, "||") {
		t.Error(done)
	}
}

// Who updates a hosted cluster depends on where it is.
func TestHostedOnAWS(t *testing.T) {
	for aws, want := range map[bool]bool{true: true, false: false} {
		r := action.Record(action.UpdateControlPlane{To: release("4.20.3"), Hosted: true, AWS: aws})
		if got := strings.Contains(r.Judge, "the rosa command"); got != want || len(r.Commands) > 0 {
			t.Errorf("AWS %t: %q, %q", aws, r.Judge, r.Commands)
		}
	}
}
