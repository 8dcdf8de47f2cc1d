package node

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/winbake/winbake/test/answer"
	"github.com/winbake/winbake/test/program"
	"github.com/winbake/winbake/test/winenode"
)

const (
	proxyPath = `C:\k\csi-proxy.exe`
	proxyLog  = `C:\var\log\csi-proxy\csi-proxy.log`
)

// What Wine's service manager doesn't tell or store. On Windows these are
// checked by the job in ci/.
var wineCantTell = []string{"--accept", "WIN004"}

// built are the commands and images of all tests here, made once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "winbake-node-test-")
	if err != nil {
		return "", err
	}
	if err := program.Build(dir, []string{"bake", "verify"}); err != nil {
		return dir, err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", dir+"/verify.exe", "../../cmd/verify/node")
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, errors.New(string(out))
	}
	return dir, nil
})

// The tests wait for services more than they work: more of them run at once
// than there are cores.
const sideBySide = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", sideBySide); err != nil {
		panic(err)
	}
	code := m.Run()
	if dir, err := built(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

var images sync.Map // by versions.yaml: func() (string, error)

// image is the OCI layout of a versions.yaml's csi-proxy, with verify.exe.
func image(t *testing.T, file string) string {
	t.Helper()
	dir := tools(t)
	once, _ := images.LoadOrStore(file, sync.OnceValues(func() (string, error) {
		out := filepath.Join(dir, "image-"+strings.ReplaceAll(strings.TrimSuffix(file, ".yaml"), "/", "-"))
		cmd := exec.Command(filepath.Join(dir, "bake"), "payload", "-f", file, "--only", "csi-proxy", "--with-verify", "--layout", out)
		cmd.Dir = "../.."
		text, err := cmd.CombinedOutput()
		if err != nil {
			err = errors.New(string(text))
		}
		return out, err
	}))
	path, err := once.(func() (string, error))()
	if err != nil {
		t.Fatalf("bake payload -f %s: %v", file, err)
	}
	return path
}

func tools(t *testing.T) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// node is a Wine node and the commands that are run on it.
type node struct {
	*winenode.Node
	t *testing.T
}

func start(t *testing.T) node {
	t.Helper()
	t.Parallel()
	return node{winenode.Start(t, winenode.Options{}), t}
}

// ran is what a command did.
type ran struct {
	stdout, stderr string
	code           int
}

func (n node) run(tool string, args ...string) ran { return n.runFor(n.t.Context(), tool, args...) }

// runFor runs bake or verify against the node.
func (n node) runFor(ctx context.Context, tool string, args ...string) ran {
	n.t.Helper()
	return n.command(ctx, tool, append(args, "--ssh", n.User+"@"+n.Addr))
}

// fleet runs bake or verify against several nodes, which the arguments name.
func (n node) fleet(tool string, args ...string) ran {
	n.t.Helper()
	return n.command(n.t.Context(), tool, args)
}

func (n node) command(ctx context.Context, tool string, args []string) ran {
	n.t.Helper()
	if tool == "bake" { // on Wine csi-proxy outlives its stop, each time
		args = append(args, "--stop-timeout", "1s")
	}
	args = append(args, "--known-hosts", n.KnownHosts, "--identity", n.KeyFile)
	cmd := exec.CommandContext(ctx, filepath.Join(tools(n.t), tool), args...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "TMPDIR="+tools(n.t)) // a killed one leaves something there
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exit := errors.AsType[*exec.ExitError](err); err != nil && !exit {
		n.t.Fatal(err)
	}
	if slices.Contains(args, "json") && stdout.Len() > 0 {
		if err := answer.Fits("../../docs/output.schema.json", stdout.Bytes()); err != nil {
			n.t.Errorf("%s %s: %v", tool, strings.Join(args, " "), err)
		}
	}
	return ran{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

func (n node) must(tool string, args ...string) ran {
	n.t.Helper()
	r := n.run(tool, args...)
	if r.code != 0 {
		n.t.Fatalf("%s %s: exit code %d\n%s%s", tool, strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r
}

// healthy checks the node against the image, with verify.
func (n node) healthy(image string) {
	n.t.Helper()
	n.healthyBy(image)
}

func (n node) healthyBy(image string, more ...string) {
	n.t.Helper()
	n.must("verify", slices.Concat([]string{"node", image}, more, wineCantTell)...)
}

// proxies are the processes of csi-proxy.
func (n node) proxies() []winenode.Process {
	n.t.Helper()
	all, err := n.Processes("csi-proxy.exe")
	if err != nil {
		n.t.Fatal(err)
	}
	return all
}

// read is a file of the node, "" for none.
func (n node) read(windows string) string {
	n.t.Helper()
	data, err := os.ReadFile(n.host(windows))
	if err != nil && !os.IsNotExist(err) {
		n.t.Fatal(err)
	}
	return string(data)
}

func (n node) host(windows string) string {
	n.t.Helper()
	path, err := n.Path(windows)
	if err != nil {
		n.t.Fatal(err)
	}
	return path
}

// files are the names of everything below C:\ that isn't Windows' own.
func (n node) files() map[string]bool {
	n.t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(n.C(), func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(path, n.C())
		if rel == "/windows" || rel == "/winenode" {
			return filepath.SkipDir
		}
		found[rel] = true
		return nil
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return found
}
