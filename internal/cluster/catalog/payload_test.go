package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// demandTable is what the operators' own lists have, file by file: s is checked
// at the start, c only read to configure a node; a letter for the one platform
// whose nodes get it (w AWS, z Azure).
const demandTable = `
                                             4.12 4.13 4.14 4.15 4.16 4.17 4.18 4.19 4.20 4.21 4.22 4.23 5.0
azure-cloud-node-manager.exe                 s    sz   sz   sz   sz   sz   sz   sz   sz   sz   sz   sz   sz
cni/host-local.exe                           s    s    s    s    s    s    s    s    s    s    s    s    s
cni/win-bridge.exe                           s    s    s    s    s    s    s    s    s    s    s    s    s
cni/win-overlay.exe                          s    s    s    s    s    s    s    s    s    s    s    s    s
containerd/containerd-shim-runhcs-v1.exe     c    c    c    c    c    c    c    c    c    c    c    c    c
containerd/containerd.exe                    c    c    c    c    c    c    c    c    c    c    c    c    c
containerd/containerd_conf.toml              c    c    c    c    c    c    c    c    c    c    c    c    c
csi-proxy/csi-proxy.exe                      c    c    c    c    c    c    c    c    c    c    c    c    c
ecr-credential-provider.exe                  -    -    cw   cw   cw   cw   cw   cw   cw   cw   cw   cw   cw
hybrid-overlay-node.exe                      s    s    s    s    s    s    s    s    s    s    s    s    s
kube-node/kube-log-runner.exe                -    s    s    s    s    s    s    s    s    s    s    s    s
kube-node/kube-proxy.exe                     s    s    s    s    s    s    s    s    s    s    s    s    s
kube-node/kubelet.exe                        s    s    s    s    s    s    s    s    s    s    s    s    s
powershell/gcp-get-hostname.ps1              s    s    s    s    s    s    s    s    s    s    s    s    s
powershell/hns.psm1                          s    s    s    s    s    s    s    s    s    s    s    s    s
powershell/windows-defender-exclusion.ps1    c    c    c    c    c    c    c    c    c    c    c    c    c
windows-exporter/windows-exporter-webconfig.yaml -  -  -    -    -    c    c    c    c    c    c    c    c
windows-exporter/windows_exporter.exe        -    -    -    -    -    s    s    s    s    s    s    s    s
windows-instance-config-daemon.exe           s    s    s    s    s    s    s    s    s    s    s    s    s
windows_exporter.exe                         s    s    s    s    s    -    -    -    -    -    -    -    -
`

func TestPayloadFiles(t *testing.T) {
	c := load(t)
	lines := strings.Split(strings.TrimSpace(demandTable), "\n")
	for i, minor := range strings.Fields(lines[0]) {
		var want, got []string
		for _, line := range lines[1:] {
			cells := strings.Fields(line)
			if cells[i+1] != "-" {
				want = append(want, cells[0]+" "+cells[i+1])
			}
		}
		for _, f := range c.PayloadFiles(minor) {
			got = append(got, f.Path+" "+letters(f))
			if wantList := map[When]string{Start: "cmd/operator/main.go#L", Configure: "pkg/windows/windows.go#L"}[f.When]; !strings.Contains(f.Source, wantList) {
				t.Errorf("%s %s: the source is %s", minor, f.Path, f.Source)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", minor, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// letters write a demand as the table does.
func letters(f PayloadFile) string {
	return string(f.When)[:1] + map[string]string{"": "", "AWS": "w", "Azure": "z"}[strings.Join(f.Nodes, "+")]
}

func TestEffectOfAMissingFile(t *testing.T) {
	for path, want := range map[string]string{
		"kube-node/kubelet.exe":        "the operator exits with code 1 when it starts",
		"azure-cloud-node-manager.exe": "the operator exits with code 1 when it starts",
		"csi-proxy/csi-proxy.exe":      "the operator configures no Windows node",
		"ecr-credential-provider.exe":  "the operator configures no Windows node on AWS",
	} {
		files := load(t).PayloadFiles("4.20.7")
		i := slices.IndexFunc(files, func(f PayloadFile) bool { return f.Path == path })
		if i < 0 || files[i].Effect != want {
			t.Errorf("%s: %v, want %s", path, files, want)
		}
	}
}

// TestUnknownOperator: a release whose operator nobody looked at demands
// nothing that is known, also where the catalog knows the release.
func TestUnknownOperator(t *testing.T) {
	c := with(t, `
releases:
  - {openshift: "5.1", kubernetes: "1.37", kubeletSkew: 1, evidence: [{source: lab}]}
`)
	for _, release := range []string{"4.11", "5.1", "6.0", "", "latest"} {
		if files := c.PayloadFiles(release); files != nil {
			t.Errorf("%s: %v", release, files)
		}
	}
}

// TestNewOperatorIsData: a release that demands other files needs rows alone.
func TestNewOperatorIsData(t *testing.T) {
	c := with(t, `
releases:
  - {openshift: "5.1", kubernetes: "1.37", kubeletSkew: 1, evidence: [{source: lab}]}
operators:
  - {openshift: "5.1", start: "lab/wmco@main:a.go#L1", configure: "lab/wmco@main:b.go#L2-L9"}
payload:
  - {path: csi-proxy/csi-proxy.exe, when: configure, from: "4.12", until: "5.1", evidence: [{source: lab}]}
  - {path: new.exe, when: configure, from: "5.1", platforms: [GCP, None], evidence: [{source: lab}]}
`)
	before, after := c.PayloadFiles("5.0"), c.PayloadFiles("5.1")
	if len(before) != 19 || len(after) != 19 {
		t.Fatalf("%d files in 5.0 and %d in 5.1, want 19 and 19", len(before), len(after))
	}
	i := slices.IndexFunc(after, func(f PayloadFile) bool { return f.Path == "new.exe" })
	if i < 0 {
		t.Fatalf("new.exe isn't demanded: %v", after)
	}
	got := fmt.Sprint(after[i].Source, ": ", after[i].Effect)
	if want := "lab/wmco@main:b.go#L2-L9: the operator configures no Windows node on GCP, None"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if slices.ContainsFunc(after, func(f PayloadFile) bool { return f.Path == "csi-proxy/csi-proxy.exe" }) {
		t.Error("a row that ends before 5.1 is demanded by 5.1")
	}
}
