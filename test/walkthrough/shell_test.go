package walkthrough

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/winbake/winbake/test/apiserver"
)

// tools is a folder with what a reader has on the PATH: bake, verify, kubectl,
// and oc, which is kubectl too: what oc has beyond it isn't run. TestMain
// removes it.
var tools = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "winbake-walkthrough-")
	if err != nil {
		return "", err
	}
	made = dir
	if out, err := exec.Command("go", "build", "-o", dir, "../../cmd/bake", "../../cmd/verify").CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return dir, nil
})

var made string

func TestMain(m *testing.M) {
	code := m.Run()
	if err := os.RemoveAll(made); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func programs(t *testing.T) string {
	t.Helper()
	dir, err := tools()
	if err != nil {
		t.Fatal(err)
	}
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
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "PATH="+c.path+":"+os.Getenv("PATH"), "HOME="+c.dir, "KUBECONFIG="+c.server.Kubeconfig, "NO_COLOR=1", "SOURCE_DATE_EPOCH=1795132800")
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}
