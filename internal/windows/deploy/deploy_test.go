package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
	"github.com/winbake/winbake/payload"
)

// fakeGuest is a machine in memory: what is put there, and a verify.exe that
// answers with facts and a result. The real one is run on Wine (packer/plugin).
type fakeGuest struct {
	files    map[string][]byte
	commands []string
	puts     []string

	facts     node.Facts
	installed string // what verify.exe was asked to install
	fails     string // what verify.exe says when it installs; "" for success
	cut       string // the upload with this in its name breaks
}

func (g *fakeGuest) Put(_ context.Context, name string, content io.Reader) error {
	if g.cut != "" && strings.Contains(name, g.cut) {
		return ErrBroken
	}
	data, err := io.ReadAll(content)
	g.files[name], g.puts = data, append(g.puts, name)
	return err
}

func (g *fakeGuest) Run(_ context.Context, command string, stdout, stderr io.Writer) (int, error) {
	g.commands = append(g.commands, command)
	words := strings.Fields(strings.ReplaceAll(command, `\`, "/"))
	switch {
	case strings.HasPrefix(command, "cmd /c rmdir"):
		clear(g.files)
	case strings.HasPrefix(command, "cmd /c dir"):
		for _, name := range slices.Sorted(maps.Keys(g.files)) {
			if strings.HasPrefix(name, words[5]+"/") {
				_, _ = io.WriteString(stdout, `C:\Users\me\`+strings.ReplaceAll(name, "/", `\`)+"\r\n")
			}
		}
	case g.files[words[0]] == nil:
		_, _ = io.WriteString(stderr, "'"+words[0]+"' is not recognized\r\n")
		return 1, nil
	case words[len(words)-1] == "--facts":
		return 0, json.NewEncoder(stdout).Encode(g.facts)
	case len(words) < 3:
		return 0, nil
	case g.fails != "" && words[2] == "install":
		_, _ = io.WriteString(stderr, g.fails)
		return 1, nil
	case words[2] == "install":
		g.installed = words[3]
		return 0, json.NewEncoder(stdout).Encode(agent.Result{Changed: true, Installed: 2})
	}
	return 0, nil
}

func newNode() (*fakeGuest, *Node) {
	g := &fakeGuest{files: map[string][]byte{}, facts: node.Facts{Services: []node.ServiceFacts{{Name: "a", Exists: node.Say(false)}}}}
	return g, &Node{Guest: g, Exe: []byte("MZ"), Say: func(string) {}}
}

func sumOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// testImage is a folder of two files, and a service that runs the first.
func testImage(t *testing.T, archived bool) *Image {
	t.Helper()
	dir := t.TempDir()
	e := &node.Expectation{APIVersion: node.APIVersion, Services: []node.Service{{Service: winsvc.Service{Name: "a", Component: "a", Path: `C:\k\a.exe`, Start: winsvc.StartAutomatic}}}}
	for _, name := range []string{"a", "b"} {
		content := "program " + name
		e.Files = append(e.Files, node.File{Component: name, Path: `C:\k\` + name + ".exe", Payload: name + ".exe", SHA256: sumOf(content), Size: int64(len(content))})
		path, data := filepath.Join(dir, name+".exe"), []byte(content)
		if archived {
			path, data = path+payload.ArchiveSuffix, archive(t, name+".exe", content)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := oci.Load(t.Context(), dir, oci.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &Image{Reference: s.Reference(), Expectation: e, source: s}
}

func archive(t *testing.T, name, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))})
	if err == nil {
		_, err = io.WriteString(w, content)
	}
	if err = errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is uploaded is a payload's folder with its node.json beside it, and what
// arrived before a connection broke isn't sent again.
func TestInstall(t *testing.T) {
	for _, archived := range []bool{false, true} {
		g, n := newNode()
		im := testImage(t, archived)
		g.cut = "/b.exe"
		if _, err := n.Install(t.Context(), im, Options{}); !errors.Is(err, ErrBroken) || g.installed != "" {
			t.Fatalf("%t: %v, installed %q", archived, err, g.installed)
		}
		first := len(g.puts)
		g.cut = ""
		r, err := n.Install(t.Context(), im, Options{})
		if err != nil || !r.Changed {
			t.Fatalf("%t: %+v, %v", archived, r, err)
		}
		for _, name := range []string{"/a.exe", "/b.exe"} {
			if g.files[g.installed+name+payload.ArchiveSuffix] == nil {
				t.Errorf("%t: %s isn't in %q", archived, name, slices.Sorted(maps.Keys(g.files)))
			}
		}
		if e, err := node.Parse(g.files[g.installed+".winbake/node.json"]); err != nil || len(e.Files) != 2 {
			t.Errorf("%+v, %v", e, err)
		}
		for _, name := range g.puts[first:] {
			if strings.Contains(name, "/a.exe") || strings.HasPrefix(name, ".winbake/verify-") {
				t.Errorf("%t: %s was sent twice", archived, name)
			}
		}
		if err := n.Clean(t.Context()); err != nil || len(g.files) > 0 {
			t.Errorf("%v, left %v", err, g.files)
		}
	}
}

// A machine that is right is asked and left alone; what it doesn't tell doesn't
// make it wrong.
func TestInstallOnARightMachine(t *testing.T) {
	g, n := newNode()
	im := testImage(t, false)
	im.Expectation.Services, g.facts.Services = nil, nil
	for _, f := range im.Expectation.Files {
		g.facts.Files = append(g.facts.Files, node.FileFacts{Path: f.Path, Exists: node.Say(true), SHA256: node.Say(f.SHA256)})
	}
	g.facts.Files[1].SHA256 = node.Unknown[string]("in use")
	if r, err := n.Install(t.Context(), im, Options{}); err != nil || r.Changed || g.installed != "" {
		t.Errorf("%+v, %v", r, err)
	}
	g.facts.Interrupted = "install x"
	if r, err := n.Install(t.Context(), im, Options{}); err != nil || !r.Changed {
		t.Errorf("a change that was cut short is left: %+v, %v", r, err)
	}
}

func TestWhatVerifySaysIsTold(t *testing.T) {
	g, n := newNode()
	g.fails = "error: the file is in use\nfix: end what holds it"
	if _, err := n.Install(t.Context(), testImage(t, false), Options{}); err == nil || !strings.Contains(err.Error(), "the file is in use") {
		t.Errorf("%v", err)
	}
}

func TestEach(t *testing.T) {
	for _, archived := range []bool{false, true} {
		im := testImage(t, archived)
		got := map[string]string{}
		take := func(f node.File, content io.Reader) error {
			data, err := io.ReadAll(content)
			got[f.Payload] = string(data)
			return err
		}
		if err := im.Each(t.Context(), im.Expectation.Files[1:], take); err != nil || len(got) != 1 || got["b.exe"] != "program b" {
			t.Errorf("%t: %v, %v", archived, got, err)
		}
		im.Expectation.Files[1].Payload = "c.exe"
		if err := im.Each(t.Context(), im.Expectation.Files, take); err == nil || !strings.Contains(err.Error(), "no /payload/c.exe") {
			t.Errorf("%t: %v", archived, err)
		}
	}
}

func TestOnly(t *testing.T) {
	im := testImage(t, false)
	if err := im.Only([]string{"c"}); err == nil {
		t.Error("a component that isn't there is taken")
	}
	if err := im.Only([]string{"b"}); err != nil || len(im.Expectation.Files) != 1 || len(im.Expectation.Services) != 0 {
		t.Errorf("%+v, %v", im.Expectation, err)
	}
}
