//go:build e2e

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/packer/plugin/e2e/vcenter"
	"github.com/winbake/winbake/packer/plugin/internal/record"
	"github.com/winbake/winbake/test/packer"
	"github.com/winbake/winbake/test/wine/winenode"
)

// nullBuild is the null builder with our plugin alone, in this template.
func nullBuild(t testing.TB, tool packer.Tool, n *winenode.Node, template string) *build {
	t.Helper()
	b := newBuild(t, tool, n)
	b.use(template)
	m := tools(t)
	_, port, err := net.SplitHostPort(n.Addr)
	if err != nil {
		t.Fatal(err)
	}
	b.vars = map[string]string{"payload": m.layout, "digest": m.digest, "port": port, "password": n.Password, "accept": vcenter.Accept()}
	return b
}

// TestNull: on both versions of Packer, the plugin alone makes a machine what
// the payload says, and the manifest holds what is on the machine.
func TestNull(t *testing.T) {
	for _, tool := range packer.Packers {
		t.Run("packer-"+tool.Version, func(t *testing.T) {
			t.Parallel()
			n := winenode.Start(t, winenode.Options{})
			b := nullBuild(t, tool, n, "null.pkr.hcl")
			out := b.must()
			if !strings.Contains(out, "6 files installed") || !strings.Contains(out, "csi-proxy started") {
				t.Errorf("the build doesn't say what it did:\n%s", out)
			}
			m := b.manifest("windows.node.json")
			b.matches(m)
			b.leftNothing()
			if again := b.must(); !strings.Contains(again, "nothing was changed") {
				t.Errorf("a second build did something:\n%s", again)
			}
			if m2 := b.manifest("windows.node.json"); m2.Digest != m.Digest || m2.Build.Run == m.Build.Run {
				t.Errorf("the same machine has the digests %s and %s, of runs %s and %s", m.Digest, m2.Digest, m.Build.Run, m2.Build.Run)
			}
		})
	}
}

// TestRetryGoesOn: each connection ends after 20 MB, and all of it is more than
// one brings. It ends in an upload, or while the machine joins one that came
// just before. The second try has what the first one sent.
func TestRetryGoesOn(t *testing.T) {
	t.Parallel()
	n := winenode.Start(t, winenode.Options{})
	n.CutAfter(20 << 20)
	b := nullBuild(t, packer.Packers[0], n, "once.pkr.hcl")
	b.vars["max_retries"] = "3"
	out := b.must()
	cut := slices.ContainsFunc([]string{"the upload failed: ", "the connection to the machine broke off while a command ran", "the connection to the machine broke off while a command was started"},
		func(said string) bool { return strings.Contains(out, said) })
	if !cut || strings.Count(out, "uploading verify.exe") != 1 {
		t.Errorf("the build wasn't cut off, or began again:\n%s", out)
	}
	b.matches(b.manifest("windows.node.json"))
	b.leftNothing()
}

// TestFilesAsTheOperatorHasThem: what has no node.json, as the operator's own
// images, goes where the operator puts it, with its csi-proxy; verify.exe is the
// one that the template names.
func TestFilesAsTheOperatorHasThem(t *testing.T) {
	t.Parallel()
	files := filepath.Join(t.TempDir(), "files")
	if err := tools(t).bake("--only", components, "--format", "flat", "--dir", files); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(files + ".winbake"); err != nil { // what bake says of them
		t.Fatal(err)
	}
	b := nullBuild(t, packer.Packers[0], winenode.Start(t, winenode.Options{}), "once.pkr.hcl")
	b.vars["payload"], b.vars["digest"], b.vars["verify_binary"] = files, "", filepath.Join(tools(t).dir, "verify.exe")
	b.must()
	m := b.manifest("windows.node.json")
	if m.Content.Payload != "" || m.Content.Release != "" || len(m.Content.Files) != 6 || len(m.Content.Services) != 1 {
		t.Errorf("the manifest holds %+v", m.Content)
	}
	for _, f := range m.Content.Files {
		if sum := hex.EncodeToString(sumOf(b.onNode(f.Path))); sum != f.SHA256 {
			t.Errorf("%s has sha256 %s, the manifest says %s", f.Path, sum, f.SHA256)
		}
	}
	const command = `C:\k\csi-proxy.exe -log_file=C:\var\log\csi-proxy\csi-proxy.log -logtostderr=false -windows-service --v=2`
	if s := m.Content.Services[0]; s.Name != "csi-proxy" || s.Command == nil || *s.Command != command {
		t.Errorf("the service is %s: %v", s.Name, s.Command)
	}
	b.accepted(m)
	b.leftNothing()
}

// manifest reads one and holds it to its digest.
func (b *build) manifest(name string) *record.Manifest {
	b.t.Helper()
	return parsed(b.t, name, b.read(name))
}

// parsed is a manifest that holds nothing else than it should, with the digest of
// its content.
func parsed(t testing.TB, name string, data []byte) *record.Manifest {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var m record.Manifest
	if err := d.Decode(&m); err != nil || m.APIVersion != record.APIVersion {
		t.Fatalf("%s: %v, apiVersion %s", name, err, m.APIVersion)
	}
	if again, err := record.New(m.Content, m.Build); err != nil || again.Digest != m.Digest {
		t.Fatalf("%s has the digest %s, its content %s: %v", name, m.Digest, again.Digest, err)
	}
	return &m
}

// matches compares a manifest with the machine's disk and with the copy there.
func (b *build) matches(m *record.Manifest) {
	b.t.Helper()
	if m.Content.Payload != tools(b.t).digest || m.Content.Release != "4.20" || m.Content.OS == "" || len(m.Content.Files) != 6 || len(m.Content.Services) != 1 {
		b.t.Errorf("the manifest holds %+v", m.Content)
	}
	for _, f := range m.Content.Files {
		if sum := hex.EncodeToString(sumOf(b.onNode(f.Path))); sum != f.SHA256 {
			b.t.Errorf("%s has sha256 %s, the manifest says %s", f.Path, sum, f.SHA256)
		}
	}
	b.accepted(m)
	encoded, err := m.Encode()
	if err != nil {
		b.t.Fatal(err)
	}
	if there := b.onNode(record.GuestPath); string(there) != string(encoded) {
		b.t.Errorf("the machine's manifest is another one:\n%s", there)
	}
}

// accepted: what was accepted is what Wine can't tell, neither more nor less.
func (b *build) accepted(m *record.Manifest) {
	b.t.Helper()
	var ids []string
	for _, f := range m.Content.Findings {
		if f.Accepted != "" && !slices.Contains(ids, f.ID) {
			ids = append(ids, f.ID)
		}
	}
	if !slices.Equal(ids, vcenter.Untold) {
		b.t.Errorf("the build accepted %v, Wine can't tell %v", ids, vcenter.Untold)
	}
}

// untold is where docs/windows-truth.md lists what Wine can't tell.
var untold = regexp.MustCompile("UNKNOWN on a Wine node: (`WIN[0-9]{3}`(?:, `WIN[0-9]{3}`)*)")

// TestAcceptedIsWrittenDown holds what builds accept to docs/windows-truth.md.
// Each build's manifest is held to it in turn.
func TestAcceptedIsWrittenDown(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs/windows-truth.md"))
	if err != nil {
		t.Fatal(err)
	}
	list := untold.FindSubmatch(bytes.Join(bytes.Fields(data), []byte(" ")))
	if list == nil {
		t.Fatal("docs/windows-truth.md doesn't say what is UNKNOWN on a Wine node")
	}
	if ids := strings.Split(strings.ReplaceAll(string(list[1]), "`", ""), ", "); !slices.Equal(ids, vcenter.Untold) {
		t.Errorf("docs/windows-truth.md has %v, builds accept %v", ids, vcenter.Untold)
	}
}

func sumOf(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}

// onNode is a file of the machine.
func (b *build) onNode(windows string) []byte {
	b.t.Helper()
	data, err := os.ReadFile(b.place(windows))
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

// place is where a file of the machine is on this one.
func (b *build) place(windows string) string {
	b.t.Helper()
	path, err := b.node.Path(windows)
	if err != nil {
		b.t.Fatal(err)
	}
	return path
}

// leftNothing: verify.exe and uploads are gone from the user's folder.
func (b *build) leftNothing() {
	b.t.Helper()
	left, err := filepath.Glob(filepath.Join(b.place(b.node.Home()), ".winbake*"))
	if err != nil || len(left) > 0 {
		b.t.Errorf("the build left %v, %v", left, err)
	}
}
