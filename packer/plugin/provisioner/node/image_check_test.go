package node

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"

	"github.com/winbake/winbake/internal/base/fault"
)

// checked is a machine whose verify.exe gives one report.
type checked struct {
	report   string
	code     int
	commands []string
	put      string
}

func (c *checked) Put(_ context.Context, name string, content io.Reader) error {
	data, err := io.ReadAll(content)
	c.put = name + " " + string(data)
	return err
}

func (c *checked) Run(_ context.Context, command string, stdout, stderr io.Writer) (int, error) {
	c.commands = append(c.commands, command)
	if strings.Contains(command, "--image") {
		_, _ = io.WriteString(stdout, c.report)
		_, _ = io.WriteString(stderr, "error: in words")
	}
	return c.code, nil
}

// TestCheckImage: without a payload verify.exe goes to the machine and checks it. What is
// wrong ends the build, and the manifest of this build's earlier step stays.
func TestCheckImage(t *testing.T) {
	t.Chdir(t.TempDir())
	exe, manifest := filepath.Join(t.TempDir(), "verify.exe"), "windows.node.json"
	for _, name := range []string{exe, manifest} {
		if err := os.WriteFile(name, []byte("MZ"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report := `{"findings": [{"id": "image.windows.evaluation", "severity": "BLOCK", "object": "Windows", "observed": "ServerStandardEval"},
 {"id": "image.left.hosts", "severity": "WARN", "object": "hosts"}]}`
	for name, c := range map[string]struct {
		machine checked
		accept  []string
		want    string
		code    int
	}{
		"wrong":     {checked{report: report, code: 3}, nil, "BLOCK image.windows.evaluation Windows: ServerStandardEval", 3},
		"unknown":   {checked{report: strings.Replace(report, "BLOCK", "UNKNOWN", 1), code: 4}, nil, "UNKNOWN image.windows.evaluation", 4},
		"accepted":  {checked{report: report, code: 3}, []string{"image.windows.evaluation"}, "", 0},
		"no report": {checked{code: 1}, nil, "error: in words", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p, ui := new(Provisioner), packersdk.TestUi(t)
			if err := p.Prepare(map[string]any{"check": "image", "profile": "generic", "verify_binary": exe, "accept": c.accept, "packer_build_name": "windows"}); err != nil {
				t.Fatal(err)
			}
			err := p.checkImage(t.Context(), ui, &c.machine)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || fault.ExitCode(err) != c.code {
				t.Errorf("want %q, have %v", c.want, err)
			}
			if !strings.HasSuffix(c.machine.put, ".exe MZ") || !strings.Contains(c.machine.commands[1], "node check --image -o json --profile generic") {
				t.Errorf("%+v", c.machine)
			}
			if last := c.machine.commands[len(c.machine.commands)-1]; c.want != "error: in words" && !strings.Contains(last, "rmdir") {
				t.Errorf("verify.exe stays: %q", c.machine.commands)
			}
		})
	}
	if _, err := os.Stat(manifest); err != nil {
		t.Error(err)
	}
}

func TestPrepareCheckImage(t *testing.T) {
	for want, raw := range map[string]map[string]any{
		`check can't be "node"`: {"check": "node", "payload": "x"},
		"profile can't be":      {"check": "image", "profile": "byoh"},
		`accept has "WIN004"`:   {"check": "image", "accept": []string{"WIN004"}},
	} {
		if err := new(Provisioner).Prepare(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}
