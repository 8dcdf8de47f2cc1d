package walkthrough

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/support/program"
)

// tools is a folder with what a reader has on the PATH: bake, verify, kubectl,
// and oc, which is kubectl too: what oc has beyond it isn't run.
var tools = program.Folder{Commands: []string{"bake", "verify"}}

func TestMain(m *testing.M) { tools.Main(m) }

func programs(t *testing.T) string {
	t.Helper()
	dir := tools.Path(t)
	kubectl, err := apiserver.Kubectl(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kubectl", "oc"} {
		if err := os.Symlink(kubectl, filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
	return dir
}

// sh runs a script as a reader would type it, in the reader's folder.
func (c *cluster) sh(t *testing.T, script string) (out string, exit int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", c.values+script)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "PATH="+c.path+":"+os.Getenv("PATH"), "HOME="+c.dir, "KUBECONFIG="+c.server.Kubeconfig, "NO_COLOR=1", "SOURCE_DATE_EPOCH=1795132800")
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}
