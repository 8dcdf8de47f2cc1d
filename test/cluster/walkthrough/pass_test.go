package walkthrough

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/support/await"
)

// blocks asks verify skew until it says BLOCK, since a Deployment's pods come
// after it.
func (c *cluster) blocks(t *testing.T) {
	t.Helper()
	var out string
	var exit int
	await.True(t, "BLOCK", func() bool {
		out, exit = c.sh(t, "verify skew 2>/dev/null")
		return exit == 3
	}, func() any { return fmt.Sprintf("exit %d\n%s", exit, out) })
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

// From BLOCK to PASS by the plan's script alone, which does nothing a second
// time. The release is the one whose Kubernetes the server is of.
func TestFromBlockToPass(t *testing.T) {
	for name, tc := range map[string]struct {
		kind   kind
		before string // what somebody did
		step   string // a step of the plan
	}{
		"the tag alone was raised": {kind{Release: "4.21.4", Platform: "VSphere"}, `
bake manifests csi-driver vsphere --for 4.19 --out old
sed -i 's/driver:v3.3.1/driver:v3.6.0/' old/08-daemonset.yaml
kubectl create -f old
kubectl apply -f old/example`, "replace DaemonSet openshift-cluster-csi-drivers/vmware-vsphere-csi-driver-node-windows"},
		"no DaemonSet": {kind{Release: "4.21.4", Platform: "AWS"}, `
bake manifests csi-driver aws-ebs --for 4.21 --out old
kubectl apply -f old/example`, "deploy the Windows DaemonSet of AWS EBS CSI driver"},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, tc.kind)
			if out, exit := c.sh(t, tc.before); exit != 0 {
				t.Fatalf("exit %d\n%s", exit, out)
			}
			c.blocks(t)
			const plan = "verify skew plan -o script > plan.sh 2>/dev/null; POLL=1 bash plan.sh --yes"
			out, exit := c.sh(t, plan)
			if exit != 0 || !strings.Contains(out, tc.step) {
				t.Fatalf("exit %d\n%s", exit, out)
			}
			c.passes(t)
			if out, exit := c.sh(t, "POLL=1 bash plan.sh --yes"); exit != 0 || !strings.Contains(out, "done already") || strings.Contains(out, "oc replace") {
				t.Errorf("again: exit %d\n%s", exit, out)
			}
		})
	}
}
