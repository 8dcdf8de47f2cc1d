package walkthrough

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/await"
)

// said is what verify skew says, as far as its reader acts on it.
type said struct {
	Verdict  string
	Findings []struct{ ID, Severity, Remedy string }
}

// printed are the commands of a text that the tools print: lines that begin with
// one of our programs or oc.
func printed(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if program, _, _ := strings.Cut(line, " "); slices.Contains([]string{"bake", "verify", "oc"}, program) {
			list = append(list, line)
		}
	}
	return list
}

// block asks verify skew until it says BLOCK, since a Deployment's pods come
// after it, and returns the commands of the blocking findings' remedies.
func (c *cluster) block(t *testing.T) []string {
	t.Helper()
	var out string
	var exit int
	await.True(t, "BLOCK", func() bool {
		out, exit = c.sh(t, "verify skew -o json 2>/dev/null")
		return exit == 3
	}, func() any { return fmt.Sprintf("exit %d\n%s", exit, out) })
	var s said
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range s.Findings {
		if f.Severity == "BLOCK" {
			t.Logf("%s: %s", f.ID, f.Remedy)
			list = append(list, printed(f.Remedy)...)
		}
	}
	return list
}

// passes asks verify skew until the nodes have followed.
func (c *cluster) passes(t *testing.T) {
	t.Helper()
	var out string
	var exit int
	await.True(t, "PASS", func() bool {
		out, exit = c.sh(t, "verify skew --fail-on=warn 2>/dev/null")
		return exit == 0 && strings.HasPrefix(out, "PASS")
	}, func() any { return fmt.Sprintf("exit %d\n%s", exit, out) })
}

// From BLOCK to PASS by what the tools print alone, in the order in which they
// print it. The release is the one whose Kubernetes the server is of.
func TestFromBlockToPass(t *testing.T) {
	for name, tc := range map[string]struct {
		kind   kind
		before string // what somebody did
		wants  string // among the commands
	}{
		"the tag alone was raised": {kind{Release: "4.21.4", Platform: "VSphere"}, `
bake manifests csi-driver vsphere --for 4.19 --out old
sed -i 's/driver:v3.3.1/driver:v3.6.0/' old/08-daemonset.yaml
kubectl create -f old
kubectl apply -f old/example`, "bake manifests csi-driver vsphere --for 4.21.4 --out vsphere-4.21.4"},
		"a HostProcess pod applied over one that was created with pipes": {kind{Release: "4.21.4", Platform: "VSphere"}, `
bake manifests csi-driver vsphere --for 4.19 --out pipes
kubectl create -f pipes
bake manifests csi-driver vsphere --for 4.21 --out host
kubectl apply -f host`, "oc -n openshift-cluster-csi-drivers delete daemonset vmware-vsphere-csi-driver-node-windows"},
		"no DaemonSet": {kind{Release: "4.21.4", Platform: "AWS"}, `
bake manifests csi-driver aws-ebs --for 4.21 --out old
kubectl apply -f old/example`, "bake manifests csi-driver aws-ebs --for 4.21.4 --out aws-ebs-4.21.4"},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, tc.kind)
			if out, exit := c.sh(t, tc.before); exit != 0 {
				t.Fatalf("exit %d\n%s", exit, out)
			}
			commands := c.block(t)
			if !slices.Contains(commands, tc.wants) {
				t.Errorf("the remedies say %q", commands)
			}
			ran := 0
			for len(commands) > 0 {
				command := commands[0]
				commands = commands[1:]
				out, exit := c.sh(t, command)
				t.Logf("$ %s\n%s", command, out)
				if exit != 0 {
					t.Fatalf("%s: exit %d\n%s", command, exit, out)
				}
				ran++
				// What bake prints to run next comes next, but the example.
				if strings.HasPrefix(command, "bake ") {
					next := slices.DeleteFunc(printed(out), func(s string) bool { return strings.HasSuffix(s, "/example") || slices.Contains(commands, s) })
					commands = append(next, commands...)
				}
			}
			if ran < 3 {
				t.Errorf("only %d commands were printed", ran)
			}
			c.passes(t)
		})
	}
}
