package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/wine/winenode"
)

// settings are csi-proxy with these, and a service that only WMCO can set up,
// since PowerShell is run before it starts.
func settings(description, environment string) string {
	return fmt.Sprintf(`  - name: csi-proxy
    component: csi-proxy
    description: %s
    environment: %s
  - name: before
    path: 'C:\k\before.exe'
    args: ['--node-ip=NODE_IP']
    priority: 3
    preScripts: [{variable: NODE_IP, command: Get-NodeIP}]
`, quote(description), environment)
}

// What is declared of a service beside its command reaches the service manager,
// is read back, and is put back when an upgrade fails. What needs a script run
// first is left to WMCO.
func TestDeclaredSettings(t *testing.T) {
	const first, second = `Größe: 100 % & "mehr"`, "other words"
	old := image(t, withServices(t, winenode.CSIProxy13, proxyPath, settings(first, `{WINBAKE_A: 'a b', HTTP_PROXY: 'http://me:secret@proxy:1'}`)))
	current := image(t, withServices(t, winenode.CSIProxy13, proxyPath, settings(second, `{WINBAKE_A: 'c'}`)))
	n := start(t)
	n.must("install", old)
	n.healthy(old)
	before := n.service()
	for _, want := range []string{`mehr"`, `HTTP_PROXY=http://me:secret@proxy:1\0WINBAKE_A=a b`} {
		if !strings.Contains(before, want) {
			t.Errorf("no %q in %s", want, before)
		}
	}
	if out, err := n.Wine(t.Context(), "sc.exe", "query", "before"); strings.Contains(string(out), "STATE") {
		t.Errorf("a service of WMCO's was made: %s, %v", out, err)
	}
	r := n.run(append([]string{"check", current}, wineCantTell...)...)
	if r.code != 3 || !strings.Contains(r.stdout, "WIN017") || !strings.Contains(r.stdout, "HTTP_PROXY is set, WINBAKE_A has another value") || strings.Contains(r.stdout, "secret") {
		t.Errorf("other variables: %+v", r)
	}
	n.fails("the node is as it was", "install", brokenImage(t, current))
	if after := n.service(); after != before {
		t.Errorf("the service was\n%s\nand is\n%s", before, after)
	}
	n.healthy(old)
	pid := n.proxies()[0].PID
	n.must("install", current)
	n.healthy(current)
	if after := n.service(); !strings.Contains(after, second) || !strings.Contains(after, "    WINBAKE_A=c") && !strings.Contains(after, "REG_MULTI_SZ    WINBAKE_A=c") || n.proxies()[0].PID == pid {
		t.Errorf("process %d was %d\n%s", n.proxies()[0].PID, pid, after)
	}
}

// A manual service is set up and left to the user who starts it.
func TestManualService(t *testing.T) {
	const manual = "  - name: csi-proxy\n    component: csi-proxy\n    start: manual\n"
	current := image(t, withServices(t, winenode.CSIProxy13, proxyPath, manual))
	n := start(t)
	for _, want := range []string{"csi-proxy made", "nothing to do"} {
		if r := n.must("install", current); !strings.Contains(r.stdout, want) || len(n.proxies()) > 0 {
			t.Errorf("want %q and nothing started: %+v, %v", want, r, n.proxies())
		}
		n.healthy(current)
	}
	if out, err := n.Wine(t.Context(), "sc.exe", "start", "csi-proxy"); err != nil && len(n.proxies()) == 0 {
		t.Fatalf("%s, %v", out, err)
	}
	n.must("install", current)
	n.healthy(current)
	if len(n.proxies()) != 1 {
		t.Errorf("%v", n.proxies())
	}
	n.must("remove")
}
