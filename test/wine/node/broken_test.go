package node

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// brokenImage is the image with another program in csi-proxy's place: one that
// Windows starts and that ends at once.
func brokenImage(t *testing.T, image string) string {
	t.Helper()
	s, err := oci.Load(t.Context(), image, oci.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // only read
	x, err := verify.ReadExtras(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	program := append(bytes.Clone(x.Verify), "another program"...)
	var e map[string]any
	if err := json.Unmarshal(x.Expectation, &e); err != nil {
		t.Fatal(err)
	}
	maps.Copy(e["files"].([]any)[0].(map[string]any), map[string]any{"sha256": sumOf(program), "size": len(program)})
	expectation, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	store := memory{}
	layer, err := payload.NewLayer(t.Context(), &payload.Tree{Format: payload.Flat, Files: []payload.File{file("csi-proxy/csi-proxy.exe", program)}}, store, payload.LayerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	extras, err := payload.NewExtras(t.Context(), []payload.File{file(payload.ExpectationName, expectation), file(payload.VerifyName, x.Verify)}, store, payload.LayerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	img, err := payload.NewImage(layer, payload.ImageOptions{})
	if err == nil {
		img, err = payload.Append(img, extras, payload.ImageOptions{})
	}
	dir := filepath.Join(t.TempDir(), "broken")
	if err == nil {
		_, err = oci.WriteLayout(t.Context(), dir, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func file(path string, data []byte) payload.File {
	return payload.File{Path: path, SHA256: sumOf(data), Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// memory is a payload.Store that remembers blobs alone.
type memory map[string][]byte

type memoryBlob struct {
	bytes.Buffer
	store memory
}

func (m memory) Create() (payload.BlobWriter, error) { return &memoryBlob{store: m}, nil }
func (m memory) Record(string, any) error            { return nil }
func (m memory) Lookup(string, any) (bool, error)    { return false, nil }
func (m memory) Open(digest string) (io.ReadCloser, error) {
	data, ok := m[digest]
	if !ok {
		return nil, os.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (b *memoryBlob) Commit() (string, int64, error) {
	digest := "sha256:" + sumOf(b.Bytes())
	b.store[digest] = b.Bytes()
	return digest, int64(b.Len()), nil
}
func (b *memoryBlob) Abort() error { return nil }

// withPath is the versions.yaml with csi-proxy in a folder of another name.
func withPath(t *testing.T, from, install, log string) string {
	t.Helper()
	return withServices(t, from, install, fmt.Sprintf("  - name: csi-proxy\n    component: csi-proxy\n    logDirectory: %s\n    args: [%s, -logtostderr=false, -windows-service, --v=2]\n",
		quote(log), quote("-log_file="+log+`\csi-proxy.log`)))
}

// withServices is the versions.yaml with csi-proxy in this place and with these
// services, in its own folder beside a copy of its locks.
func withServices(t *testing.T, from, install, services string) string {
	t.Helper()
	dir := t.TempDir()
	stem := strings.TrimSuffix(from, ".yaml")
	if err := os.CopyFS(filepath.Join(dir, "versions.lock"), os.DirFS(filepath.Join("../../..", stem+".lock"))); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join("../../..", from))
	if err != nil {
		t.Fatal(err)
	}
	components, _, ok := strings.Cut(string(data), "\nservices:\n")
	const place = `install: 'C:\k\csi-proxy.exe'`
	if !ok || !strings.Contains(components, place) {
		t.Fatal("versions.yaml has no services or another install path")
	}
	text := strings.Replace(components, place, "install: "+quote(install), 1) + "\nservices:\n" + services
	path := filepath.Join(dir, "versions.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
