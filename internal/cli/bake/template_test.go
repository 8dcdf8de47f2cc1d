package bake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/winbake/winbake/internal/build/cache"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/packer/template"
	"github.com/winbake/winbake/payload"
)

// said is what a run of bake printed, and its exit code.
type said struct {
	stdout, stderr string
	code           int
}

func runBake(ctx context.Context, args ...string) said {
	var stdout, stderr bytes.Buffer
	a := &app.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
	code := a.Run(ctx, New(a), append(args, "--progress", "plain"))
	return said{stdout.String(), stderr.String(), code}
}

// payloadImage is an image with a payload of one file and a label.
func payloadImage(t *testing.T, format payload.Format, label, version string) v1.Image {
	t.Helper()
	const content = "MZ"
	sum := sha256.Sum256([]byte(content))
	tree := &payload.Tree{Format: format, Files: []payload.File{{Path: "csi-proxy/csi-proxy.exe", SHA256: hex.EncodeToString(sum[:]), Size: 2,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}}}
	store, err := cache.Open(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := payload.NewLayer(t.Context(), tree, blobStore{store}, payload.LayerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	image, err := payload.NewImage(layer, payload.ImageOptions{Labels: map[string]string{label: version}})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func digestOf(t *testing.T, image v1.Image) string {
	t.Helper()
	h, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h.String()
}

func layoutOf(t *testing.T, image v1.Image) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "layout")
	if _, err := oci.WriteLayout(t.Context(), dir, image, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pushed is the image in a registry, by tag and by digest.
func pushed(t *testing.T, image v1.Image) (tag, digest string) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	repository := strings.TrimPrefix(server.URL, "http://") + "/payload"
	ref, err := name.ParseReference(repository+":latest", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, image, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
	return repository + ":latest", repository + "@" + digestOf(t, image)
}

const (
	ociVersion = "org.opencontainers.image.version" // ours
	operators  = "version"                          // WMCO's
)

// TestTemplatePayload: images of ours and stock ones of WMCO's, in either format
// and from each place that they come from, end up in the template by digest.
func TestTemplatePayload(t *testing.T) {
	inRegistry := payloadImage(t, payload.Archived, ociVersion, "4.20")
	_, byDigest := pushed(t, inRegistry)
	packed := payloadImage(t, payload.Flat, ociVersion, "4.20.3")
	tar := filepath.Join(t.TempDir(), "payload.tar")
	if err := tarball.WriteToFile(tar, name.MustParseReference("payload:1").(name.Tag), packed); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		image   v1.Image
		place   string // "" for a layout
		release string
	}{
		"ours, archived, a layout":  {payloadImage(t, payload.Archived, ociVersion, "4.20"), "", "4.20"},
		"ours, flat, a layout":      {payloadImage(t, payload.Flat, ociVersion, "4.20"), "", "4.20"},
		"WMCO's, flat, a layout":    {payloadImage(t, payload.Flat, operators, "v10.20.1"), "", "4.20"},
		"WMCO's, archived":          {payloadImage(t, payload.Archived, operators, "10.21.0"), "", "4.21"},
		"ours, in a registry":       {inRegistry, byDigest, "4.20"},
		"ours, in a tarball":        {packed, tar, "4.20"},
		"anybody's, of any release": {payloadImage(t, payload.Archived, "x", "y"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			place := c.place
			if place == "" {
				place = layoutOf(t, c.image)
			}
			out := filepath.Join(t.TempDir(), "image")
			args := []string{"template", "vsphere-iso", "--out", out, "--payload", place}
			if c.release != "" {
				args = append(args, "--release", c.release)
			}
			if r := runBake(t.Context(), args...); r.code != 0 || strings.Contains(r.stderr, "nothing holds it") {
				t.Fatalf("%+v", r)
			}
			text, err := os.ReadFile(filepath.Join(out, "variables.pkr.hcl"))
			if err != nil {
				t.Fatal(err)
			}
			source, err := oci.Load(t.Context(), place, oci.Options{}) // as the plugin does: a tarball of Docker's has a manifest of its own
			if err != nil {
				t.Fatal(err)
			}
			defer source.Close()
			want := place
			if source.Kind != oci.KindRegistry { // from the folder, wherever both are moved
				if want, err = filepath.Rel(out, place); err != nil {
					t.Fatal(err)
				}
			}
			for variable, want := range map[string]string{"payload_digest": source.Digest.String(), "payload": want, "release": c.release} {
				m := regexp.MustCompile(`(?s)variable "` + variable + `" \{.*?default\s+= "([^"\n]*)"`).FindStringSubmatch(string(text))
				if m == nil || m[1] != want {
					t.Errorf("%s has the default %q, want %q", variable, m, want)
				}
			}
		})
	}
}

// TestTemplatePortable: nothing in a folder names this machine's folders, and what
// it names is found from the folder.
func TestTemplatePortable(t *testing.T) {
	layout := layoutOf(t, payloadImage(t, payload.Archived, ociVersion, "4.20"))
	parent := filepath.Dir(layout)
	t.Chdir(parent)
	for name, text := range map[string]string{"id.pub": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE4 image-team\n", "step.ps1": "exit 0\n",
		"v.pkrvars.hcl": "iso_url = \"https://example.com/a.iso\"\niso_checksum = \"sha256:" + strings.Repeat("0", 64) + "\"\nvirtio_dir = \"layout\"\nauthorized_keys_file = \"id.pub\"\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r := runBake(t.Context(), "template", "qemu", "--out", "images/qemu", "--payload", "oci:"+layout, "--var-file", "v.pkrvars.hcl", "--extra-script", "before-updates="+parent+"/step.ps1"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	all := ""
	written, err := filepath.Glob("images/qemu/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range written {
		if data, err := os.ReadFile(name); err == nil {
			all += string(data)
		}
	}
	if strings.Contains(all, parent) {
		t.Errorf("the folder names %s:\n%s", parent, all)
	}
	for _, want := range []string{`"../../layout"`, `"../../id.pub"`, `"${path.root}/extra/step.ps1"`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
}

// TestTemplateSkeleton: the skeleton is a var-file of the template that it is for,
// and is complete once its empty values are filled in.
func TestTemplateSkeleton(t *testing.T) {
	r := runBake(t.Context(), "template", "vsphere-iso", "--skeleton")
	if r.code != 0 || !strings.Contains(r.stdout, "\ndatastore = \"\"\n") || !strings.Contains(r.stdout, "\n# PKR_VAR_admin_password=...\n") || !strings.Contains(r.stdout, "\n# cluster = \"\"\n") {
		t.Fatalf("%+v", r)
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "id.pub")
	if err := os.WriteFile(key, []byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE4 image-team\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(`authorized_keys_file = ""`, `authorized_keys_file = "`+key+`"`, `payload_digest = ""`, `payload_digest = "sha256:`+strings.Repeat("0", 64)+`"`,
		"# iso_path = \"\"", `iso_path = "[ds] a.iso"`, "# host = \"\"", `host = "esx"`).Replace(r.stdout)
	text = regexp.MustCompile(`(?m)^([a-z_]+) = ""$`).ReplaceAllString(text, `$1 = "x"`)
	file := filepath.Join(dir, "v.pkrvars.hcl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := runBake(t.Context(), "template", "vsphere-iso", "--out", filepath.Join(dir, "image"), "--var-file", file); r.code != 0 {
		t.Errorf("%+v\n%s", r, text)
	}
}

// TestTemplateEdited: a folder that isn't empty is left as it is.
func TestTemplateEdited(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "image")
	args := []string{"template", "vsphere-iso", "--out", dir, "--payload", "none"}
	if r := runBake(t.Context(), args...); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	edited := filepath.Join(dir, "image.pkr.hcl")
	if err := os.WriteFile(edited, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := runBake(t.Context(), args...); r.code != 1 || !strings.Contains(r.stderr, "the folder isn't empty") || !strings.Contains(r.stderr, "fix: give a new folder with --out") {
		t.Errorf("%+v", r)
	}
	if data, err := os.ReadFile(edited); err != nil || string(data) != "# mine\n" {
		t.Errorf("%q %v", data, err)
	}
}

// An image that says nothing of its release passes with a warning: it can't be
// held to what it doesn't say.
func TestTemplateReleaseUntold(t *testing.T) {
	layout := layoutOf(t, payloadImage(t, payload.Archived, "x", "y"))
	r := runBake(t.Context(), "template", "qemu", "--out", filepath.Join(t.TempDir(), "image"), "--payload", layout, "--release", "4.20")
	if r.code != 0 || !strings.Contains(r.stderr, "nothing holds it to 4.20") {
		t.Errorf("%+v", r)
	}
}

// TestTemplateRefused: what can't become an image is refused here and now, with
// what fixes it, and nothing is written.
func TestTemplateRefused(t *testing.T) {
	image := payloadImage(t, payload.Archived, ociVersion, "4.20")
	tag, _ := pushed(t, image)
	layout := layoutOf(t, image)
	folder := filepath.Join(t.TempDir(), "files")
	if err := os.MkdirAll(filepath.Join(folder, "csi-proxy"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "csi-proxy", "csi-proxy.exe"), []byte("MZ"), 0o600); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "id")
	if err := os.WriteFile(key, []byte("-----BEGIN OPENSSH PRIVATE KEY-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	values := func(text string) string {
		path := filepath.Join(t.TempDir(), "v.pkrvars.hcl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		args      []string
		want, fix string
	}{
		"unknown platform":           {[]string{"vsphere"}, `there is no platform "vsphere"`, "bake template list"},
		"payload by tag":             {[]string{"vsphere-iso", "--payload", tag}, "a tag may be another image tomorrow", "--payload " + strings.TrimSuffix(tag, ":latest") + "@" + digestOf(t, image)},
		"payload of files":           {[]string{"vsphere-iso", "--payload", folder}, "a folder of files has no digest", "bake payload --layout DIR"},
		"payload of another release": {[]string{"vsphere-iso", "--payload", layout, "--release", "4.19"}, "the payload is for OpenShift 4.20, and --release is 4.19", "--release 4.20"},
		"payload that isn't there":   {[]string{"vsphere-iso", "--payload", filepath.Join(folder, "none")}, "none", ""},
		"generic without a payload":  {[]string{"vsphere-iso", "--profile", "generic", "--payload", "none"}, "no files without a payload", "--payload"},
		"first boot's check":         {[]string{"vsphere-iso", "--payload", "none", "--first-boot-check"}, "--first-boot-check", "the image is checked before sysprep"},
		"unknown Windows":            {[]string{"vsphere-iso", "--windows", "2019"}, `--windows can't be "2019"`, "2022, 2025"},
		"unknown profile":            {[]string{"vsphere-iso", "--profile", "byoh"}, `--profile can't be "byoh"`, "openshift, generic"},
		"strange release":            {[]string{"vsphere-iso", "--release", "latest"}, `--release can't be "latest"`, "--release 4.20"},
		"missing variable":           {[]string{"qemu", "--payload", "none", "--var-file", values("")}, "no value for iso_url", `iso_url = "..."`},
		"weak password":              {[]string{"vsphere-iso", "--payload", "none", "--var-file", values(`admin_password = "Short1"`)}, "14 to 127 characters", "openssl rand"},
		"key file absent":            {[]string{"vsphere-iso", "--payload", "none", "--var-file", values(`authorized_keys_file = "/none/id.pub"`)}, "a file with public SSH keys", "ssh-keygen -y"},
		"key file private":           {[]string{"vsphere-iso", "--payload", "none", "--var-file", values(`authorized_keys_file = "` + key + `"`)}, "a file with public SSH keys", "ssh-keygen -y"},
		"host name too long":         {[]string{"vsphere-iso", "--payload", "none", "--var-file", values(`host_name_prefix = "windows-worker-"`)}, "a host name has no more than 15", `host_name_prefix = "win-"`},
		"ISO without checksum":       {[]string{"qemu", "--payload", "none", "--var-file", values(`iso_checksum = ""`)}, "has to be sha256", "sha256sum FILE"},
		"extra script absent":        {[]string{"qemu", "--payload", "none", "--extra-script", "last=/none.ps1"}, "no such script", "--extra-script"},
		"extra script of Linux":      {[]string{"qemu", "--payload", "none", "--extra-script", "setup.sh"}, "ends in .ps1, .cmd or .bat", "PATH.ps1"},
		"cloudbase-init for WMCO":    {[]string{"qemu", "--payload", "none", "--cloudbase-init"}, "cloudbase-init is for Cluster API", "--profile generic"},
		"edits adopted":              {[]string{"qemu", "--payload", "none", "--adopt"}, "--adopt", "give another folder with --out"},
		"var-file absent":            {[]string{"qemu", "--payload", "none", "--var-file", "/none.pkrvars.hcl"}, "no such var-file", "--var-file"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			r := runBake(t.Context(), append([]string{"template", "--out", filepath.Join(parent, "image")}, c.args...)...)
			if r.code != 1 || !strings.Contains(r.stderr, c.want) || c.fix != "" && !strings.Contains(r.stderr, "fix: ") || !strings.Contains(r.stderr, c.fix) {
				t.Errorf("want %q and %q, have %d\n%s", c.want, c.fix, r.code, r.stderr)
			}
			if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	if r := runBake(t.Context(), "template", "qemu"); r.code != 1 || !strings.Contains(r.stderr, "--out image") {
		t.Errorf("without --out: %+v", r)
	}
}

// TestTemplateStopped: Ctrl-C leaves what was there.
func TestTemplateStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	parent := t.TempDir()
	if r := runBake(ctx, "template", "qemu", "--payload", "none", "--out", filepath.Join(parent, "image")); r.code == 0 {
		t.Errorf("%+v", r)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestTemplateList has every platform, and what it was tested on.
func TestTemplateList(t *testing.T) {
	r := runBake(t.Context(), "template", "list")
	for _, p := range template.Platforms() {
		if !strings.Contains(r.stdout, p.Name) || !strings.Contains(r.stdout, p.Tested) || p.Tested == "" {
			t.Errorf("nothing of %s in\n%s", p.Name, r.stdout)
		}
	}
}
