//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hashicorp/packer-plugin-sdk/acctest"

	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/packer/plugin/internal/record"
	"github.com/winbake/winbake/test/packer"
	"github.com/winbake/winbake/test/wine/winenode"
)

// TestAcceptance is the SDK's acceptance test of both components in one
// build. It sets PACKER_ACC itself: who runs these tests has said so.
func TestAcceptance(t *testing.T) {
	b := nullBuild(t, packer.Packers[0], winenode.Start(t, winenode.Options{}), "null.pkr.hcl")
	line := b.line("build")
	for name, value := range map[string]string{
		acctest.TestEnvVar: "1", "CHECKPOINT_DISABLE": "1", "PATH": filepath.Dir(b.p.Path) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"PACKER_PLUGIN_PATH": filepath.Join(b.p.Dir, "plugins"), "PACKER_CONFIG_DIR": b.p.Dir, "PACKER_CACHE_DIR": filepath.Join(b.p.Dir, "cache"),
	} {
		t.Setenv(name, value)
	}
	t.Chdir(b.dir)
	acctest.TestPlugin(t, &acctest.PluginTestCase{
		Name: "winbake", Type: "provisioner", Template: string(b.read("null.pkr.hcl")), BuildExtraArgs: line[1 : len(line)-1],
		Check: func(cmd *exec.Cmd, log string) error {
			if code := cmd.ProcessState.ExitCode(); code != 0 {
				return fmt.Errorf("packer build ended with %d:\n%s", code, b.read(log))
			}
			return nil
		},
	})
	m := b.manifest("windows.node.json")
	b.matches(m)
	b.source(m)
}

// source compares what the data source told with what is on the machine.
func (b *build) source(m *record.Manifest) {
	b.t.Helper()
	var told struct {
		Digest, Release, Reference, Directory string
		Files                                 []node.File
		Services                              []struct {
			Name, Command, Start string
			Pipes                []string
		}
	}
	if err := json.Unmarshal(b.read("payload.json"), &told); err != nil {
		b.t.Fatal(err)
	}
	if told.Digest != tools(b.t).digest || told.Release != "4.20" || told.Reference != tools(b.t).layout || told.Directory != "" || len(told.Files) != len(m.Content.Files) {
		b.t.Errorf("the data source told %+v", told)
	}
	for i, f := range told.Files {
		if f != m.Content.Files[i] || f.Component == "csi-proxy" && f.Version != "v1.3.0" {
			b.t.Errorf("the data source told %+v, on the machine is %+v", f, m.Content.Files[i])
		}
	}
	if s := told.Services; len(s) != 1 || s[0].Name != "csi-proxy" || s[0].Command != *m.Content.Services[0].Command || s[0].Start != "automatic" || len(s[0].Pipes) == 0 {
		b.t.Errorf("the data source told the services %+v", s)
	}
}
