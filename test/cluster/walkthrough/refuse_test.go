package walkthrough

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestServerRefuses makes a real API server refuse what docs/csi-drivers.md has
// in its table, row by row, and holds the words there to the server's.
func TestServerRefuses(t *testing.T) {
	text, err := os.ReadFile(docs + "csi-drivers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## When the API server refuses")
	var says []string
	for line := range strings.Lines(table) {
		if m := regexp.MustCompile("^\\| `([^`]+)`").FindStringSubmatch(line); m != nil {
			says = append(says, strings.ReplaceAll(regexp.QuoteMeta(m[1]), `\.\.\.`, `.*`))
		}
	}
	c := start(t, kind{Release: "4.20.3", Platform: "VSphere"})
	if out, exit := c.sh(t, `
bake manifests csi-driver vsphere --for 4.20 --out vsphere
bake manifests csi-driver vsphere --for 4.20 --namespace own --out own
kubectl apply -f vsphere -f vsphere/example
kubectl create namespace low
kubectl label namespace low pod-security.kubernetes.io/enforce=baseline`); exit != 0 {
		t.Fatalf("exit %d\n%s", exit, out)
	}
	rows := []string{
		// A pod of the template, as a DaemonSet's controller makes it.
		`sed 's/namespace: openshift-cluster-csi-drivers/namespace: low/' vsphere/08-daemonset.yaml |
kubectl create --dry-run=client -o json -f - |
jq '{apiVersion: "v1", kind: "Pod", metadata: {name: "a", namespace: "low"}, spec: .spec.template.spec}' | kubectl create -f -`,
		`kubectl apply -f own/08-daemonset.yaml`,
		`sed 's/app: vmware.*/app: other/' vsphere/08-daemonset.yaml | kubectl apply -f -`,
		`sed 's/fstype: ntfs/fstype: exfat/' vsphere/example/09-storageclass.yaml | kubectl apply -f -`,
		`kubectl apply --as=somebody -f vsphere`,
	}
	if len(rows) != len(says) {
		t.Fatalf("the table has %d rows: %q", len(says), says)
	}
	for i, script := range rows {
		out, exit := c.sh(t, script)
		if exit == 0 || !regexp.MustCompile(says[i]).MatchString(out) {
			t.Errorf("%s: exit %d, want %s\n%s", script, exit, says[i], out)
		}
	}
}
