package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/build/expect"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload/verify"
)

// pinnedFile is the repository's own versions.yaml, whose lock is beside it.
const pinnedFile = "../../../versions.yaml"

// folder is an archived payload whose csi-proxy.exe can't be unpacked.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	for _, d := range []string{"generated", "csi-proxy"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, body := range map[string]string{"csi-proxy/csi-proxy.exe.tar.gz": "MZ", "sha256sum": strings.Repeat("0", 64) + "  csi-proxy.exe\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Nothing that is pinned may pass because nobody could look at it.
func TestPinnedProgramThatCouldNotBeRead(t *testing.T) {
	args := []string{"payload", folder(t), "-f", pinnedFile, "--only", "csi-proxy"}
	for _, id := range []string{"payload.archive.malformed", "payload.generated", "payload.mode", "payload.node.missing", "payload.node.file", "payload.format", "payload.node.pins"} {
		args = append(args, "--accept", id)
	}
	code, out, errs := run(t.Context(), nil, args...)
	if code != 4 || !strings.Contains(out, "UNKNOWN binary.unread") || strings.Contains(out, "PASS") && !strings.Contains(out, " 0 PASS") {
		t.Errorf("exit code %d, want 4\n%s%s", code, out, errs)
	}
}

// A program's path is the pins', whatever it ends in.
func TestProgramsAreInspectedByTheirPins(t *testing.T) {
	const program = "csi-proxy/csi-proxy.com"
	dir := folder(t)
	if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	source, err := oci.Load(t.Context(), dir, oci.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &executables{want: &pinned{programs: map[string]*expect.Program{program: {}}}, inspected: map[string]bool{}}
	var check verify.Options
	e.watch(&check)
	if _, _, err := verify.Check(t.Context(), source, check); err != nil {
		t.Fatal(err)
	}
	if len(e.findings) != 1 || e.findings[0].ID != "binary.pe.unreadable" || e.findings[0].Object != "payload/"+program {
		t.Errorf("%+v", e.findings)
	}
}

func imageLayout(t *testing.T) (dir string, digest v1.Hash) {
	t.Helper()
	img, err := mutate.ConfigFile(mutate.MediaType(empty.Image, types.OCIManifestSchema1), &v1.ConfigFile{OS: "linux", Architecture: "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	tarball := make([]byte, 1024) // of no entries
	if img, err = mutate.AppendLayers(img, static.NewLayer(tarball, types.OCIUncompressedLayer)); err != nil {
		t.Fatal(err)
	}
	if digest, err = img.Digest(); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "image")
	p, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = p.AppendImage(img)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, digest
}

func TestImageIsHeldToADigest(t *testing.T) {
	dir, digest := imageLayout(t)
	other := "sha256:" + strings.Repeat("0", 64)
	for _, tt := range []struct {
		digest string
		code   int
		want   string
	}{
		{digest.String(), 0, "PASS    payload.digest"},
		{"quay.io/me/payload@" + digest.String(), 0, "PASS    payload.digest"},
		{dir + "@" + digest.String(), 0, "PASS    payload.digest"},
		{other, 3, "expected  " + other},
		{"latest", 1, "--digest can't be"},
		{digest.Hex, 1, "--digest can't be"},
	} {
		code, out, errs := run(t.Context(), nil, "payload", dir, "--accept", verify.IDMissing, "--digest", tt.digest, "-v")
		if code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("--digest %s: exit code %d, want %d\n%s%s", tt.digest, code, tt.code, out, errs)
		}
	}
	if code, out, _ := run(t.Context(), nil, "payload", folder(t), "--digest", digest.String()); code != 3 || !strings.Contains(out, "a folder, which has no digest") {
		t.Errorf("a folder: exit code %d\n%s", code, out)
	}
}

// The pins alone don't prove a program's bytes, and the report says so.
func TestReportSaysWhatPinsDoNotProve(t *testing.T) {
	dir, digest := imageLayout(t)
	const note = "no pin holds the sum of a built program"
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{dir, "-f", pinnedFile}, note + ", so its code was compared with nothing: hold the image to the digest"},
		{[]string{folder(t), "-f", pinnedFile}, "bake the folder again"},
		{[]string{dir, "-f", pinnedFile, "--digest", digest.String()}, ""},
		{[]string{dir}, ""},
	} {
		_, out, _ := run(t.Context(), nil, append([]string{"payload"}, tt.args...)...)
		if got := strings.Contains(out, note); got != (tt.want != "") || !strings.Contains(out, tt.want) {
			t.Errorf("%s: want %q\n%s", tt.args, tt.want, out)
		}
	}
}
