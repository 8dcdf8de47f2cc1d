//go:build e2e

package node

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/winbake/winbake/test/wine/winenode"
)

// The playbook of examples/ansible installs, finds nothing to do, and fails where
// verify.exe does.
func TestAnsible(t *testing.T) {
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	bake := exec.CommandContext(t.Context(), filepath.Join(tools(t), "bake"), "payload", "-f", winenode.CSIProxy13, "--only", "csi-proxy", "--with-verify", "--dir", tree)
	bake.Dir = "../../.."
	if out, err := bake.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n := start(t)
	host, port, err := net.SplitHostPort(n.Addr)
	if err != nil {
		t.Fatal(err)
	}
	inventory := filepath.Join(dir, "inventory.yaml")
	text := fmt.Sprintf(`windows:
  hosts:
    win1:
      ansible_host: %s
      ansible_port: %s
      ansible_user: %s
      ansible_ssh_private_key_file: %s
      ansible_ssh_common_args: -o UserKnownHostsFile=%s
`, host, port, n.User, n.KeyFile, n.KnownHosts)
	if err := os.WriteFile(inventory, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	play := func(more ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "ansible-playbook", append([]string{"-i", inventory, "../../../examples/ansible/node.yaml", "-e", "payload=" + tree}, more...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "ANSIBLE_NOCOLOR=1", "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	const byCmd = "ansible_shell_type=sh"
	for _, want := range []string{"changed=4", "changed=3"} {
		out, err := play("-e", byCmd, "-e", "{check: --accept WIN004}")
		if err != nil || !strings.Contains(out, want) || !strings.Contains(out, "failed=0") {
			t.Fatalf("want %s: %v\n%s", want, err, out)
		}
		n.healthy(tree)
		if n.exists(n.Home() + `\winbake`) {
			t.Error("what was brought is left")
		}
	}
	if out, err := play("-e", byCmd); err == nil || !strings.Contains(out, "UNKNOWN WIN004") {
		t.Errorf("a check that fails passes: %v\n%s", err, out)
	}
	n.throughPowerShell(play)
}

// throughPowerShell runs the play as Windows would get it: Ansible gives each
// command to PowerShell, whose double has answers for these alone.
func (n node) throughPowerShell(play func(more ...string) (string, error)) {
	n.t.Helper()
	const program = `winbake\tree.winbake\verify.exe node `
	var answers []winenode.Answer
	for _, command := range []string{`cmd /c "if exist winbake rmdir /s /q winbake & mkdir winbake"`, program + `install winbake\tree`, program + "check", `cmd /c "rmdir /s /q winbake"`} {
		text := make([]byte, 0, 2*len(command))
		for _, c := range utf16.Encode([]rune(command)) {
			text = binary.LittleEndian.AppendUint16(text, c)
		}
		answers = append(answers, winenode.Answer{Contains: []string{"-EncodedCommand " + base64.StdEncoding.EncodeToString(text)}, Stdout: "nothing to do"})
	}
	n.Expect(n.t, answers...)
	if err := os.MkdirAll(n.host(n.Home()+`\winbake`), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if out, err := play(); err != nil || !strings.Contains(out, "ok=5") {
		n.t.Errorf("%v\n%s", err, out)
	}
	for _, c := range n.Calls(n.t) {
		if !c.Expected {
			n.t.Errorf("PowerShell was given %q", c.Args)
		}
	}
}

func (n node) exists(windows string) bool {
	_, err := os.Stat(n.host(windows))
	return err == nil
}
