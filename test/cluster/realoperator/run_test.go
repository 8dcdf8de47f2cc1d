//go:build operator

package realoperator

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/support/kubeclient"
)

// user is what OpenShift makes of a pod: an id out of a range, in group 0.
const user = 1000650000

// limit bounds a run of the operator that neither ends nor says what is awaited.
const limit = 5 * time.Minute

const namespace = "openshift-windows-machine-config-operator"

// operator is an operator's program in a root folder of its own, with a
// payload and an API server.
type operator struct {
	root, payload string
	version       string // 10.20.2-0a2aa00
	release       string // 4.20
	server        *apiserver.Server
	client        *kubeclient.Set
}

func newOperator(t *testing.T, program, image string) *operator {
	t.Helper()
	root := t.TempDir()
	o := &operator{root: root, payload: filepath.Join(root, "payload")}
	o.readVersion(t, program)
	inside, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	unpack(t, image, inside)
	copyFile(t, program, inside, "operator")

	o.server = apiserver.Start(t)
	o.server.Install(t, kinds...)
	o.server.LoadText(t, cluster)
	if o.client, err = kubeclient.New(o.server.Config); err != nil {
		t.Fatal(err)
	}
	copyFile(t, o.server.Kubeconfig, inside, "kubeconfig")
	const account = "var/run/secrets/kubernetes.io/serviceaccount"
	if err := errors.Join(inside.MkdirAll(account, 0o755), inside.WriteFile(account+"/namespace", []byte(namespace), 0o644)); err != nil {
		t.Fatal(err)
	}
	return o
}

// readVersion asks the program what it is.
func (o *operator) readVersion(t *testing.T, program string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "version").Output()
	if err != nil {
		t.Fatalf("%s version: %v", program, err)
	}
	m := regexp.MustCompile(`version: "([^"]+)"`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("%s version says no version, which the linker stamps: %s", program, out)
	}
	o.version = string(m[1])
	v, err := version.ParseWMCO(o.version)
	if err != nil {
		t.Fatal(err)
	}
	w := loadCatalog(t).WMCORelease(v)
	if w == nil {
		t.Fatalf("the catalog knows no OpenShift release of WMCO %s", o.version)
	}
	o.release = w.OpenShift
}

func loadCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// archived says whether the payload has the format of operators from 4.21 on.
func (o *operator) archived() bool {
	_, err := os.Stat(filepath.Join(o.payload, "sha256sum"))
	return err == nil
}

// file is where a file of the payload is.
func (o *operator) file(name string) string {
	if o.archived() {
		name += ".tar.gz"
	}
	return filepath.Join(o.payload, filepath.FromSlash(name))
}

// stopped is the code of an operator that the test ended.
const stopped = -1

// run starts the operator and ends it once its log says until, or stop is
// closed.
func (o *operator) run(t *testing.T, stop <-chan struct{}, until string) (log string, code int) {
	t.Helper()
	cmd := exec.Command("/operator", "--metrics-bind-address=127.0.0.1:0")
	cmd.Dir = "/"
	cmd.Env = []string{"HOME=/", "USER=operator", "KUBECONFIG=/kubeconfig", "POD_NAME=operator", "WATCH_NAMESPACE=" + namespace}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot:     o.root,
		Credential: &syscall.Credential{Uid: user},
		Pdeathsig:  syscall.SIGKILL,
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the operator, which takes root: %v", err)
	}
	var late atomic.Bool
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-stop:
		case <-time.After(limit):
			late.Store(true)
		case <-ended:
		}
		_ = cmd.Process.Kill() // it may have ended
	}()
	var all strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if strings.Contains(lines.Text(), until) {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait() // killed, or with the code that is returned
	if late.Load() {
		t.Fatalf("after %s the operator neither ended nor said %q:\n%s", limit, until, all.String())
	}
	return all.String(), cmd.ProcessState.ExitCode()
}

// sum is what a file of the payload unpacks to: in an archived payload, what
// its list says.
func (o *operator) sum(t *testing.T, name string) string {
	t.Helper()
	if !o.archived() {
		return sumOf(o.file(name))
	}
	list, err := os.ReadFile(filepath.Join(o.payload, "sha256sum"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		if sum, path, _ := strings.Cut(strings.TrimSpace(line), "  "); filepath.Base(path) == filepath.Base(name) {
			return sum
		}
	}
	return "no sum"
}
