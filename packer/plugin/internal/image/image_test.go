package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/windows/imagecheck"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
	"github.com/winbake/winbake/payload"
)

// files are a payload as WMCO has it, with the place of each on a node. What
// is in them doesn't matter here.
var files = map[string]string{
	"cni/win-bridge.exe":                               `C:\k\cni\win-bridge.exe`,
	"containerd/containerd.exe":                        `C:\k\containerd\containerd.exe`,
	"containerd/containerd_conf.toml":                  `C:\k\containerd\containerd_conf.toml`,
	"csi-proxy/csi-proxy.exe":                          `C:\k\csi-proxy.exe`,
	"kube-node/kubelet.exe":                            `C:\k\kubelet.exe`,
	"powershell/hns.psm1":                              `C:\Temp\hns.psm1`,
	"windows-exporter/windows-exporter-webconfig.yaml": `C:\k\tls\windows-exporter-webconfig.yaml`,
	"windows-instance-config-daemon.exe":               `C:\k\windows-instance-config-daemon.exe`,
}

func sumOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func file(path, content string) payload.File {
	return payload.File{Path: path, SHA256: sumOf(content), Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

// made describes an image for a test.
type made struct {
	format  payload.Format
	version string         // label of WMCO's images
	extra   string         // another file of the payload
	extras  []payload.File // of /winbake
}

// layout writes an image and returns its folder and digest.
func layout(t *testing.T, m made) (dir, digest string) {
	t.Helper()
	tree := &payload.Tree{Format: m.format}
	for path := range files {
		tree.Files = append(tree.Files, file(path, "content of "+path))
	}
	if m.extra != "" {
		tree.Files = append(tree.Files, file(m.extra, "x"))
	}
	store := newStore(t)
	layer, err := payload.NewLayer(t.Context(), tree, store, payload.LayerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := payload.ImageOptions{}
	if m.version != "" {
		o.Labels = map[string]string{"version": m.version}
	}
	image, err := payload.NewImage(layer, o)
	if err != nil {
		t.Fatal(err)
	}
	if m.extras != nil {
		extras, err := payload.NewExtras(t.Context(), m.extras, store, payload.LayerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if image, err = payload.Append(image, extras, payload.ImageOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	dir = filepath.Join(t.TempDir(), "layout")
	hash, err := oci.WriteLayout(t.Context(), dir, image, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dir, hash.String()
}

// nodeJSON is what bake would put into the image.
func nodeJSON(t *testing.T, change func(*node.Expectation)) payload.File {
	t.Helper()
	e := &node.Expectation{APIVersion: node.APIVersion, Release: "4.20", Files: []node.File{}, Services: []node.Service{{Service: winsvc.CSIProxy("disk-v1")}}}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		content := "content of " + path
		e.Files = append(e.Files, node.File{Component: path, Path: files[path], Payload: path, SHA256: sumOf(content), Size: int64(len(content))})
	}
	if change != nil {
		change(e)
	}
	data, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return file(payload.ExpectationName, string(data))
}

func open(t *testing.T, o Options) *Image {
	t.Helper()
	if o.Profile == "" {
		o.Profile = imagecheck.OpenShift
	}
	im, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = im.Close() })
	return im
}

// WMCO's own images, of both formats, have their files put where WMCO puts
// them, and csi-proxy as WMCO sets it up.
func TestStock(t *testing.T) {
	for _, format := range []payload.Format{payload.Flat, payload.Archived} {
		dir, digest := layout(t, made{format: format, version: "v10.20.2"})
		im := open(t, Options{Payload: dir, Digest: digest, Release: "4.20"})
		got := map[string]string{}
		for _, f := range im.Expectation.Files {
			got[f.Payload] = f.Path
			if f.SHA256 != sumOf("content of "+f.Payload) {
				t.Errorf("%s has sha256 %s", f.Payload, f.SHA256)
			}
		}
		if !maps.Equal(got, files) || im.Release != "4.20" || im.Digest != digest {
			t.Errorf("%s: %v, %+v", format, got, im)
		}
		if s := im.Expectation.Services; len(s) != 1 || s[0].Command() != winsvc.CSIProxy().Command() || len(s[0].Pipes) != 4 {
			t.Errorf("%s: services %+v", format, s)
		}
		taken := map[string]string{}
		if err := im.Each(t.Context(), im.Expectation.Files, func(f node.File, _ io.Reader) error {
			taken[f.Payload] = f.Path
			return nil
		}); err != nil || !maps.Equal(taken, files) {
			t.Errorf("%s: took %v, %v", format, taken, err)
		}
	}
}

func TestOurs(t *testing.T) {
	dir, digest := layout(t, made{format: payload.Archived, extras: []payload.File{nodeJSON(t, nil), file(payload.VerifyName, "verify")}})
	im := open(t, Options{Payload: dir, Digest: digest, Release: "4.20"})
	if im.Release != "4.20" || len(im.Expectation.Files) != len(files) || len(im.Expectation.Services) != 1 {
		t.Errorf("%+v", im)
	}
	if exe, err := im.VerifyExe(""); err != nil || string(exe) != "verify" {
		t.Errorf("%q, %v", exe, err)
	}
	named := filepath.Join(t.TempDir(), "v.exe")
	if err := os.WriteFile(named, []byte("named"), 0o600); err != nil {
		t.Fatal(err)
	}
	if exe, err := im.VerifyExe(named); err != nil || string(exe) != "named" {
		t.Errorf("%q, %v", exe, err)
	}
}

// Neither named nor in the image: the one beside the plugin, whose place the
// test's own program has here.
func TestVerifyBesideThePlugin(t *testing.T) {
	dir, _ := layout(t, made{format: payload.Flat, version: "v10.20.2"})
	im := open(t, Options{Payload: dir})
	if _, err := im.VerifyExe(""); err == nil || !strings.Contains(err.Error(), "bake payload --with-verify") {
		t.Errorf("%v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(filepath.Dir(self), payload.VerifyName)
	if err := os.WriteFile(beside, []byte("beside"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(beside) })
	if exe, err := im.VerifyExe(""); err != nil || string(exe) != "beside" {
		t.Errorf("%q, %v", exe, err)
	}
}

func TestProfiles(t *testing.T) {
	extra := node.Service{Service: winsvc.Service{Name: "agent", Path: `C:\k\kubelet.exe`, Start: winsvc.StartManual}}
	dir, _ := layout(t, made{format: payload.Flat, extras: []payload.File{nodeJSON(t, func(e *node.Expectation) { e.Services = append(e.Services, extra) })}})
	names := func(im *Image) (out []string) {
		for _, s := range im.Expectation.Services {
			out = append(out, s.Name)
		}
		return out
	}
	if got := names(open(t, Options{Payload: dir})); !slices.Equal(got, []string{"csi-proxy"}) {
		t.Errorf("openshift registers %v", got)
	}
	im := open(t, Options{Payload: dir, Profile: imagecheck.Generic})
	if got := names(im); !slices.Equal(got, []string{"csi-proxy", "agent", "containerd"}) {
		t.Errorf("generic registers %v", got)
	}
	for _, s := range im.Expectation.Services {
		if len(s.Recovery.Actions) == 0 {
			t.Errorf("%s isn't started again when it dies", s.Name)
		}
	}
	want := `C:\k\containerd\containerd.exe --config C:\k\containerd\containerd_conf.toml --log-file C:\var\log\containerd\containerd.log --run-service --log-level info`
	if got := im.Expectation.Services[2].Command(); got != want {
		t.Errorf("containerd runs as %s", got)
	}
}

func TestRefused(t *testing.T) {
	stockDir, digest := layout(t, made{format: payload.Flat, version: "v10.20.2"})
	silent, _ := layout(t, made{format: payload.Flat})
	strange, _ := layout(t, made{format: payload.Flat, extra: "strange/thing.exe"})
	upstream, _ := layout(t, made{format: payload.Flat, extras: []payload.File{nodeJSON(t, func(e *node.Expectation) { e.Services[0].Name = "csiproxy" })}})
	folder := filepath.Join(t.TempDir(), "dir")
	if err := payload.WriteDir(t.Context(), folder, &payload.Tree{Format: payload.Flat, Files: []payload.File{file("csi-proxy/csi-proxy.exe", "x")}}, payload.DirOptions{}); err != nil {
		t.Fatal(err)
	}
	other := "sha256:" + strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"digest":          {Options{Payload: stockDir, Digest: other}, "the payload has changed: its digest is " + digest},
		"release":         {Options{Payload: stockDir, Release: "4.21"}, "is for OpenShift 4.20, and the build is for 4.21"},
		"no release":      {Options{Payload: silent, Release: "4.21"}, "doesn't say which OpenShift release it is for"},
		"strange file":    {Options{Payload: strange}, "doesn't say where this file goes"},
		"upstream's name": {Options{Payload: upstream}, "would fight the operator's own"},
		"folder's digest": {Options{Payload: folder, Digest: other}, "a folder of files has no digest"},
		"nothing there":   {Options{Payload: filepath.Join(t.TempDir(), "none")}, "no such file or folder"},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Profile = imagecheck.OpenShift
			if _, err := Open(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, have %v", c.want, err)
			}
		})
	}
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if err := payload.WriteDir(t.Context(), dir, &payload.Tree{Format: payload.Flat, Files: []payload.File{file("csi-proxy/csi-proxy.exe", "x")}}, payload.DirOptions{}); err != nil {
		t.Fatal(err)
	}
	if im := open(t, Options{Payload: dir}); im.Digest != "" || len(im.Expectation.Files) != 1 || im.Expectation.Files[0].Path != `C:\k\csi-proxy.exe` {
		t.Errorf("%+v", im.Expectation)
	}
}

// A tag may be another image tomorrow: the error has the reference to paste.
func TestTag(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	ref := strings.TrimPrefix(server.URL, "http://") + "/team/payload"
	dir, digest := layout(t, made{format: payload.Flat, version: "v10.20.2"})
	source, err := oci.Load(t.Context(), dir, oci.Options{})
	if err != nil {
		t.Fatal(err)
	}
	image, err := source.Image()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oci.Push(t.Context(), ref+":latest", image, oci.Options{Insecure: true}); err != nil {
		t.Fatal(err)
	}
	o := Options{Payload: ref + ":latest", Profile: imagecheck.OpenShift, PlainHTTP: true}
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), ref+"@"+digest) {
		t.Errorf("%v", err)
	}
	if im := open(t, Options{Payload: ref + "@" + digest, Digest: digest, PlainHTTP: true}); im.Reference != ref+"@"+digest {
		t.Errorf("%s", im.Reference)
	}
}

func TestCheckOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"payload is missing":       {Profile: imagecheck.OpenShift},
		`digest can't be "latest"`: {Payload: "x", Digest: "latest", Profile: imagecheck.OpenShift},
		`profile can't be "k8s"`:   {Payload: "x", Profile: "k8s"},
	} {
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
	if err := (Options{Payload: "x", Profile: imagecheck.Generic}).Check(); err != nil {
		t.Error(err)
	}
}

// What isn't a Windows program, and a file that isn't node.json's, are told
// before a machine is made.
func TestCheck(t *testing.T) {
	dir, _ := layout(t, made{format: payload.Archived, extras: []payload.File{nodeJSON(t, func(e *node.Expectation) {
		e.Files[0].SHA256 = strings.Repeat("1", 64)
		e.Files[1].Payload = "containerd/none.exe"
	})}})
	err := open(t, Options{Payload: dir}).Check(t.Context())
	if err == nil {
		t.Fatal("the payload passes")
	}
	for _, want := range []string{"the payload isn't sound", "binary.pe.unreadable", "payload.node.file", "no such file", "fix: verify payload"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error doesn't say %q:\n%v", want, err)
		}
	}
}

// What is unpacked has the names that a machine asks for, and another run
// finds it there.
func TestUnpack(t *testing.T) {
	t.Setenv("PACKER_CACHE_DIR", t.TempDir())
	dir, digest := layout(t, made{format: payload.Archived, extras: []payload.File{nodeJSON(t, nil), file(payload.VerifyName, "verify")}})
	im := open(t, Options{Payload: dir})
	for range 2 {
		out, err := im.Unpack(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out, strings.TrimPrefix(digest, "sha256:")) {
			t.Errorf("two payloads would share %s", out)
		}
		entries, err := os.ReadDir(out)
		if err != nil || len(entries) != len(files)+1 {
			t.Errorf("%v, %v", entries, err)
		}
		for path := range files {
			if _, err := os.Stat(filepath.Join(out, filepath.Base(path)+payload.ArchiveSuffix)); err != nil {
				t.Error(err)
			}
		}
	}
}

// store is a payload.Store of one folder.
type store struct{ dir string }

func newStore(t *testing.T) *store { return &store{t.TempDir()} }

type blob struct {
	bytes.Buffer
	s *store
}

// Create is Store's.
func (s *store) Create() (payload.BlobWriter, error) { return &blob{s: s}, nil }

// Commit is BlobWriter's.
func (b *blob) Commit() (string, int64, error) {
	sum := sumOf(b.String())
	return "sha256:" + sum, int64(b.Len()), os.WriteFile(filepath.Join(b.s.dir, sum), b.Bytes(), 0o600)
}

// Abort is BlobWriter's.
func (*blob) Abort() error { return nil }

// Open is Store's.
func (s *store) Open(digest string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(s.dir, strings.TrimPrefix(digest, "sha256:")))
}

// Record is Store's.
func (s *store) Record(key string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, "record-"+strings.TrimPrefix(key, "sha256:")), data, 0o600)
}

// Lookup is Store's.
func (s *store) Lookup(key string, v any) (bool, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, "record-"+strings.TrimPrefix(key, "sha256:")))
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(data, v)
}
