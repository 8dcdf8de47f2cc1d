package winenode

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/packer/template"
)

// TestKubeletReadsKubeadmsFlags runs what cluster-api.ps1 has the service kubelet start,
// with echo for kubelet.exe: what kubeadm join wrote for this node comes last, and before
// it has run nothing is missing.
func TestKubeletReadsKubeadmsFlags(t *testing.T) {
	t.Parallel()
	n := Start(t, Options{})
	folder, err := template.Render(template.Options{Platform: "vsphere-iso", Profile: template.Generic})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(folder.Files, func(f template.File) bool { return f.Path == "scripts/cluster-api.ps1" })
	block := regexp.MustCompile(`(?s)'C:\\k\\kubelet\.cmd' .*?-Value @\(\n(.*?)\n    \)`).FindSubmatch(folder.Files[at].Data)
	if block == nil {
		t.Fatal("the script writes no kubelet.cmd")
	}
	var text strings.Builder
	for line := range strings.Lines(string(block[1])) {
		line = strings.Trim(strings.TrimSpace(line), "'")
		text.WriteString(strings.Replace(line, `C:\k\kubelet.exe `, "echo ", 1) + "\r\n")
	}
	put := func(windows, text string) {
		t.Helper()
		name, err := n.Path(windows)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(`C:\k\kubelet.cmd`, text.String())
	for _, flags := range []string{"", "--cloud-provider=external --node-labels=a=b,c/d=e --register-with-taints=os=windows:NoSchedule"} {
		if flags != "" {
			put(`C:\var\lib\kubelet\kubeadm-flags.env`, `KUBELET_KUBEADM_ARGS="`+flags+"\"\n")
		}
		out, err := n.Wine(t.Context(), "cmd", "/d", "/c", `C:\k\kubelet.cmd`)
		said := strings.TrimSpace(string(out))
		if err != nil || !strings.HasPrefix(said, "--windows-service --cert-dir=") || !strings.HasSuffix(said, strings.TrimSpace("--container-runtime-endpoint=npipe:////./pipe/containerd-containerd "+flags)) {
			t.Errorf("with the flags %q the kubelet gets %q, %v", flags, said, err)
		}
	}
}
