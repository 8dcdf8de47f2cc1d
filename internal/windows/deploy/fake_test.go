package deploy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/guest"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
	"github.com/winbake/winbake/payload"
)

// fakeGuest is a machine in memory: what is put there, and a verify.exe that
// answers with facts and a result. What the real one does is tested on Wine
// (test/node).
type fakeGuest struct {
	mu       sync.Mutex
	files    map[string][]byte
	commands []string
	puts     []string

	facts  node.Facts
	apply  func(req *agent.Request) agent.Line
	before string // what the machine's shell prints first
	posix  bool   // it isn't Windows
	// slowStarts is how often verify.exe, which is there, does not start.
	slowStarts int
	inUse      func(name string) bool
	vanish     bool  // somebody else removes verify.exe
	tidied     int   // how often somebody else removes the expectation
	mute       bool  // verify.exe ends without a word
	cut        error // of the next upload
}

func newGuest() *fakeGuest {
	return &fakeGuest{files: map[string][]byte{}, facts: node.Facts{Protocol: node.Protocol, Managed: node.Say(false), Administrator: node.Say(true)},
		apply: func(*agent.Request) agent.Line { return agent.Line{Result: &agent.Result{Changed: true}} }}
}

func (g *fakeGuest) Put(ctx context.Context, name string, content io.Reader) error {
	data, err := io.ReadAll(content)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err = cmp.Or(err, ctx.Err(), g.cut); err != nil {
		return err
	}
	if g.inUse != nil && g.inUse(name) {
		return fmt.Errorf("%s: %w", name, guest.ErrInUse)
	}
	g.files[name], g.puts = data, append(g.puts, name)
	if g.tidied > 0 && strings.Contains(name, "expect-") {
		g.tidied--
		delete(g.files, name)
	}
	if g.vanish && strings.Contains(name, "request-") {
		maps.DeleteFunc(g.files, func(name string, _ []byte) bool { return strings.HasSuffix(name, ".exe") })
	}
	return nil
}

// Run is cmd.exe's del and rmdir, and verify.exe where it was put.
func (g *fakeGuest) Run(ctx context.Context, command string, stdout, stderr io.Writer) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.commands = append(g.commands, command)
	words := strings.Fields(strings.ReplaceAll(command, `\`, "/"))
	switch {
	case g.posix:
		return 127, nil
	case words[0] == "cmd" && words[2] == "rmdir":
		for name := range g.files {
			if strings.HasPrefix(name, words[5]+"/") {
				delete(g.files, name)
			}
		}
		return 0, nil
	case words[0] == "cmd":
		return 0, nil
	case g.files[words[0]] == nil:
		_, _ = io.WriteString(stderr, "'"+words[0]+"' is not recognized\r\n")
		return 1, nil
	}
	return g.verify(words[1:], stdout)
}

func (g *fakeGuest) verify(args []string, stdout io.Writer) (int, error) {
	_, _ = io.WriteString(stdout, g.before)
	input := g.files[args[slices.IndexFunc(args, func(a string) bool { return a == "--expect" || a == "--request" })+1]]
	switch {
	case g.mute:
		return 3, nil
	case g.slowStarts > 0:
		g.slowStarts--
		return 2, nil
	case input == nil:
		agent.WriteLine(stdout, agent.Line{Fault: &fault.Error{What: "no such file"}})
		return 1, nil
	case args[1] == "facts":
		facts, err := g.answer(input)
		agent.WriteLine(stdout, agent.Line{Facts: facts})
		return 0, err
	}
	req := new(agent.Request)
	if err := json.Unmarshal(input, req); err != nil {
		return 0, err
	}
	agent.WriteLine(stdout, agent.Line{Say: "working"})
	agent.WriteLine(stdout, g.apply(req))
	return 0, nil
}

// answer is what the machine was told to say, and of whatever else it's asked
// that it isn't there.
func (g *fakeGuest) answer(question []byte) (*node.Facts, error) {
	var e node.Expectation
	if err := json.Unmarshal(question, &e); err != nil {
		return nil, err
	}
	facts := g.facts
	for _, f := range e.Files {
		if !slices.ContainsFunc(facts.Files, func(h node.FileFacts) bool { return node.SamePath(f.Path, h.Path) }) {
			facts.Files = append(slices.Clip(facts.Files), node.FileFacts{Path: f.Path, Exists: node.Say(false)})
		}
	}
	for _, s := range e.Services {
		facts.Services = append(slices.Clip(facts.Services), node.ServiceFacts{Name: s.Name, Exists: node.Say(false)})
	}
	return &facts, nil
}

func sumOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// testImage is a payload of two files and a service that runs the first.
func testImage(t *testing.T) *Image {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "payload")
	e := &node.Expectation{APIVersion: node.APIVersion, Services: []node.Service{{Service: winsvc.Service{Name: "a", Component: "a", Path: `C:\k\a.exe`}}}}
	tree := &payload.Tree{Format: payload.Flat}
	for _, name := range []string{"a", "b"} {
		content := "program " + name
		tree.Files = append(tree.Files, payload.File{Path: name + ".exe", SHA256: sumOf(content), Size: int64(len(content)),
			Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }})
		e.Files = append(e.Files, node.File{Component: name, Path: `C:\k\` + name + ".exe", Payload: name + ".exe", SHA256: sumOf(content), Size: int64(len(content))})
	}
	if err := payload.WriteDir(t.Context(), dir, tree, payload.DirOptions{}); err != nil {
		t.Fatal(err)
	}
	s, err := oci.Load(t.Context(), dir, oci.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Cleanup(func() {
		if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
			t.Errorf("files of the upload are left: %v %v", left, err)
		}
	})
	return &Image{Reference: s.Reference(), Expectation: e, source: s}
}
