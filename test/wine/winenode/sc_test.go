package winenode

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// script is what `bake manifests setup-script` writes.
func script(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "./cmd/bake", "manifests", "setup-script"}, args...)...)
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath")
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("bake manifests setup-script: %v\n%s", err, trouble.Bytes())
	}
	file := filepath.Join(t.TempDir(), "script.cmd")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// The script for a node without WMCO, twice, and its undo.
func TestScScript(t *testing.T) {
	t.Parallel()
	p := proxy{Node: Start(t, Options{})}
	p.ssh = dial(t, p.Node)
	p.Put(t, Program(t, "./test/wine/winenode/csiclient"), client)
	p.Put(t, script(t, "csi-proxy"), `C:\setup.cmd`)
	p.Put(t, script(t, "csi-proxy", "--undo"), `C:\remove.cmd`)

	if r := run(t, p.ssh, "", `C:\setup.cmd`); r.code != 1 || !strings.Contains(r.stderr, `C:\k\csi-proxy.exe" isn't on this node`) {
		t.Errorf("without the program: %+v", r)
	}
	p.Put(t, Built(t, CSIProxy13, "csi-proxy"), proxyPath)
	if r := run(t, p.ssh, "", `C:\setup.cmd`); r.code != 0 || !strings.Contains(r.stdout, "csi-proxy: set up and running") {
		t.Fatalf("set up: %+v", r)
	}
	p.waitForPipes(t)
	before := p.running(t)
	if len(before) != 1 || before[0].Command != proxyCommand {
		t.Fatalf("it runs as %+v", before)
	}
	if r := run(t, p.ssh, "", `C:\setup.cmd`); r.code != 0 || len(p.running(t)) != 1 || p.running(t)[0] != before[0] {
		t.Errorf("once more: %+v; %+v runs, was %+v", r, p.running(t), before)
	}

	if r := run(t, p.ssh, "", `C:\remove.cmd`); r.code != 0 {
		t.Errorf("remove: %+v", r)
	}
	if left := p.running(t); len(left) > 0 {
		t.Errorf("after its removal %+v runs", left)
	}
	if r := run(t, p.ssh, "", `reg query HKLM\SYSTEM\CurrentControlSet\Services\csi-proxy`); r.code == 0 {
		t.Errorf("the service is there: %+v", r)
	}
	if r := run(t, p.ssh, "", `C:\remove.cmd`); r.code != 0 {
		t.Errorf("remove once more: %+v", r)
	}
}
