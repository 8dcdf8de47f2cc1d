package node

import (
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

	"github.com/winbake/winbake/test/support/program"
	"github.com/winbake/winbake/test/wine/winenode"
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
	if err := program.Build(dir, []string{"bake"}); err != nil {
		return dir, err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", dir+"/verify.exe", "../../../cmd/verify/node")
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
		cmd.Dir = "../../.."
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

// node is a Wine node and the verify.exe that is run on it.
type node struct {
	*winenode.Node
	t *testing.T
}

func start(t *testing.T) node {
	t.Helper()
	t.Parallel()
	return startWith(t, winenode.Options{})
}

func startWith(t *testing.T, o winenode.Options) node {
	t.Helper()
	n := node{winenode.Start(t, o), t}
	n.Put(t, filepath.Join(tools(t), "verify.exe"), verifyExe)
	return n
}

// ran is what a command did.
type ran struct {
	stdout, stderr string
	code           int
}

// verifyExe is where the node has verify.exe, beside the tests' own programs.
const verifyExe = `C:\winenode\verify.exe`

// brought is a host's payload on the node.
func (n node) brought(payload string) string {
	n.t.Helper()
	name := `C:\winenode\` + filepath.Base(payload)
	for _, beside := range []string{"", ".winbake"} {
		info, err := os.Stat(payload + beside)
		if _, there := os.Stat(n.host(name + beside)); err != nil || there == nil {
			continue
		}
		if !info.IsDir() {
			n.Put(n.t, payload, name)
			continue
		}
		if err := os.CopyFS(n.host(name+beside), os.DirFS(payload+beside)); err != nil {
			n.t.Fatal(err)
		}
	}
	return name
}

// line is a command of verify.exe; a payload of the host's is brought to the node.
func (n node) line(args []string) []string {
	n.t.Helper()
	line := []string{verifyExe, "node"}
	for _, a := range args {
		if filepath.IsAbs(a) {
			a = n.brought(a)
		}
		line = append(line, a)
	}
	if args[0] != "check" && !slices.Contains(args, "--stop-timeout") { // on Wine csi-proxy outlives its stop, each time
		line = append(line, "--stop-timeout", "1s")
	}
	return line
}

func (n node) run(args ...string) ran { return n.runFor(n.t.Context(), args...) }

func (n node) runFor(ctx context.Context, args ...string) ran {
	n.t.Helper()
	return n.start(ctx, n.line(args))
}

// start runs a program of the node's.
func (n node) start(ctx context.Context, line []string) ran {
	n.t.Helper()
	out, err := n.Wine(ctx, line...)
	r := ran{stdout: string(out)}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.code, r.stderr = exit.ExitCode(), strings.ReplaceAll(err.Error(), "\r", "")
	} else if err != nil && ctx.Err() == nil {
		n.t.Fatal(err)
	}
	return r
}

func (n node) must(args ...string) ran {
	n.t.Helper()
	r := n.run(args...)
	if r.code != 0 {
		n.t.Fatalf("%s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r
}

// healthy checks the node against the image.
func (n node) healthy(image string) {
	n.t.Helper()
	n.must(slices.Concat([]string{"check", image}, wineCantTell)...)
}

// finds is a check that must find something.
func (n node) finds(image string, ids ...string) {
	n.t.Helper()
	r := n.run(slices.Concat([]string{"check", image}, wineCantTell)...)
	for _, id := range ids {
		if r.code != 3 || !strings.Contains(r.stdout, id) {
			n.t.Errorf("want %s: %+v", id, r)
		}
	}
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
