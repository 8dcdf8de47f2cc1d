package node

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/windows/firstboot"
	expected "github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
	"github.com/winbake/winbake/test/winenode"
)

const (
	ownFolder  = `C:\ProgramData\winbake`
	stateKey   = `HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Setup\State`
	setupKey   = `HKLM\SYSTEM\Setup`
	sourceKey  = `HKLM\SYSTEM\CurrentControlSet\Services\EventLog\Application\winbake`
	resultFile = ownFolder + `\first-boot.json`
)

// imaged puts what an image brings for its first boot onto the node, and has
// Windows Setup be at a point.
func (n node) imaged(image, state string) {
	n.t.Helper()
	source, err := oci.Load(n.t.Context(), image, oci.Options{})
	if err != nil {
		n.t.Fatal(err)
	}
	defer source.Close()
	extras, err := verify.ReadExtras(n.t.Context(), source)
	if err != nil {
		n.t.Fatal(err)
	}
	if err := os.MkdirAll(n.host(ownFolder), 0o755); err != nil {
		n.t.Fatal(err)
	}
	for name, data := range map[string][]byte{payload.VerifyName: extras.Verify, expected.FileName: extras.Expectation} {
		if err := os.WriteFile(filepath.Join(n.host(ownFolder), name), data, 0o755); err != nil {
			n.t.Fatal(err)
		}
	}
	n.setup(state, "0")
}

// setup is what Windows Setup says of itself.
func (n node) setup(state, busy string) {
	n.t.Helper()
	for _, args := range [][]string{
		{"reg", "add", stateKey, "/v", "ImageState", "/d", state, "/f"},
		{"reg", "add", setupKey, "/v", "SystemSetupInProgress", "/t", "REG_DWORD", "/d", busy, "/f"},
	} {
		if out, err := n.Wine(n.t.Context(), args...); err != nil {
			n.t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}

// boot runs what the scheduled task runs, and returns its exit code and the
// result that it leaves.
func (n node) boot(wait string) (int, firstboot.Record) {
	n.t.Helper()
	args := append([]string{ownFolder + `\verify.exe`, "node", "--first-boot", "--wait", wait, "--expect", ownFolder + `\node.json`}, wineCantTell...)
	out, err := n.Wine(n.t.Context(), args...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		n.t.Fatal(err)
	}
	var r firstboot.Record
	if text := n.read(resultFile); json.Unmarshal([]byte(text), &r) != nil {
		n.t.Fatalf("exit code %d, no result: %q\n%s%v", code, text, out, err)
	}
	return code, r
}

// TestFirstBoot: what an image's scheduled task does in a clone. Wine has no
// event log to read back: it takes the event and forgets it.
func TestFirstBoot(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	n.must("bake", "node", "install", current)

	n.imaged(current, "IMAGE_STATE_SPECIALIZE_RESEAL_TO_OOBE")
	if code, r := n.boot("1s"); code != 1 || r.Outcome != firstboot.Failed || !strings.Contains(r.Error, "IMAGE_STATE_SPECIALIZE_RESEAL_TO_OOBE") {
		t.Errorf("in the middle of Setup: exit code %d, %+v", code, r)
	}
	n.setup("IMAGE_STATE_COMPLETE", "1")
	if code, r := n.boot("1s"); code != 1 || !strings.Contains(r.Error, "in progress") {
		t.Errorf("at the end of Setup: exit code %d, %+v", code, r)
	}
	n.setup("IMAGE_STATE_COMPLETE", "0")
	code, r := n.boot("3m") // it ends as soon as all is well
	if code != 0 || r.EventLog != "" || r.Outcome != "INFO" || r.OS == "" || r.Host == "" {
		t.Errorf("all is well: exit code %d, %+v", code, r)
	}
	if out, err := n.Wine(t.Context(), "reg", "query", sourceKey); err != nil || !strings.Contains(string(out), "EventCreate.exe") {
		t.Errorf("the source of the events isn't registered: %v\n%s", err, out)
	}
	if err := n.Kill(n.proxies()[0]); err != nil {
		t.Fatal(err)
	}
	if code, r := n.boot("1s"); code != 3 || r.Outcome != "BLOCK" || !strings.Contains(n.read(resultFile), expected.PipeMissing) {
		t.Errorf("the service died: exit code %d, %+v", code, r)
	}
	if err := os.Remove(n.host(ownFolder + `\node.json`)); err != nil {
		t.Fatal(err)
	}
	if code, r := n.boot("1s"); code != 1 || !strings.Contains(r.Error, "expectation can't be read") {
		t.Errorf("without an expectation: exit code %d, %+v", code, r)
	}
}
