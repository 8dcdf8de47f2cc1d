package verify

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/cluster/catalog"
)

// operatorImage writes a layout of one image with a flat payload, as WMCO's own
// Containerfile makes one: nothing of it is Winbake's.
func operatorImage(t *testing.T, config v1.Config, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "payload/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "payload/generated/", Typeflag: tar.TypeDir, Mode: 0o777},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		body := "a file named " + f
		if err := w.WriteHeader(&tar.Header{Name: "payload/" + f, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(body))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	img, err := mutate.ConfigFile(mutate.MediaType(empty.Image, types.OCIManifestSchema1), &v1.ConfigFile{OS: "linux", Architecture: "amd64", Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if img, err = mutate.AppendLayers(img, static.NewLayer(b.Bytes(), types.OCIUncompressedLayer)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "image")
	p, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = p.AppendImage(img)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// demanded are the files of a release but for some.
func demanded(t *testing.T, release string, without ...string) []string {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range c.PayloadFiles(release) {
		if !slices.Contains(without, f.Path) {
			files = append(files, f.Path)
		}
	}
	return files
}

var (
	wmco       = v1.Config{Entrypoint: []string{"/usr/local/bin/entrypoint"}, Labels: map[string]string{"version": "v10.20.1"}}
	ownPayload = v1.Config{Labels: map[string]string{"org.opencontainers.image.version": "4.20"}}
)

func TestPayloadIsHeldToItsOperator(t *testing.T) {
	const (
		kubelet = "kube-node/kubelet.exe"
		proxy   = "csi-proxy/csi-proxy.exe"
		ecr     = "ecr-credential-provider.exe"
		startup = "why       without it the operator exits with code 1 when it starts\n"
		nodes   = "why       without it the operator configures no Windows node\n"
		onAWS   = "why       without it the operator configures no Windows node on AWS\n"
	)
	labelled := func(c v1.Config, version string) v1.Config {
		c.Labels = map[string]string{"version": version}
		return c
	}
	for _, tt := range []struct {
		name   string
		config v1.Config
		files  []string
		args   []string
		code   int
		want   []string
		not    string
	}{
		{"WMCO's own image", wmco, demanded(t, "4.20"), nil, 0, []string{"PASS    payload.operator.file", "all 19 files that the operator of OpenShift 4.20 reads"}, "no such file"},
		{"WMCO's own with more files", wmco, append(demanded(t, "4.20"), "cni/flannel.exe"), nil, 0, []string{"all 19 files"}, "no such file"},
		{"an operator without a file that it checks", wmco, demanded(t, "4.20", kubelet), nil, 3, []string{"BLOCK   payload.operator.file  payload/" + kubelet, startup, "cmd/operator/main.go#L132-L148"}, nodes},
		{"an operator without a file of nodes", wmco, demanded(t, "4.20", proxy), nil, 3, []string{"BLOCK   payload.operator.file  payload/" + proxy, nodes, "pkg/windows/windows.go#L206-L233"}, startup},
		{"an operator without a file of AWS", wmco, demanded(t, "4.20", ecr), nil, 3, []string{"BLOCK   payload.operator.file  payload/" + ecr, onAWS}, startup},
		{"accepted", wmco, demanded(t, "4.20", ecr), []string{"--accept", "payload.operator.file=payload/" + ecr}, 0, []string{"INFO    payload.operator.file"}, "BLOCK   payload.operator"},
		{"an operator of another release", labelled(wmco, "v10.16.1"), demanded(t, "4.20"), nil, 3, []string{"payload/windows_exporter.exe", "OpenShift 4.16"}, "payload.operator.file  payload/" + kubelet},
		{"a payload of its own", ownPayload, []string{proxy}, nil, 0, []string{"WARN    payload.operator.file  payload/" + kubelet, startup, nodes, onAWS}, "BLOCK   payload.operator"},
		{"a whole payload of its own", ownPayload, demanded(t, "4.20"), nil, 0, []string{"all 19 files"}, "WARN    "},
		{"a release that is named", v1.Config{}, demanded(t, "4.12"), []string{"--release", "4.12"}, 0, []string{"all 16 files that the operator of OpenShift 4.12 reads"}, "note: nothing tells"},
		{"a patch that is named", v1.Config{}, demanded(t, "4.12"), []string{"--release", "4.12.40"}, 0, []string{"all 16 files"}, "note: nothing tells"},
		{"no release", v1.Config{}, []string{proxy}, nil, 0, []string{"note: nothing tells which OpenShift release this is for", "--release"}, "payload.operator.file"},
		{"a release beside the labels'", ownPayload, demanded(t, "4.19"), []string{"--release", "4.19"}, 0, []string{"WARN    payload.release", "its labels say OpenShift 4.20", "all 19 files"}, "BLOCK   payload"},
		{"labels of a release that isn't known", labelled(ownPayload, "v11.7.0"), []string{proxy}, nil, 4, []string{"UNKNOWN payload.operator.file", "a payload for OpenShift 5.7"}, "PASS    payload.operator"},
		{"a flat payload where archives are read", labelled(wmco, "v10.21.1"), demanded(t, "4.21"), nil, 3, []string{"BLOCK   payload.format", "the operator of OpenShift 4.21 finds no file in it"}, "no such file"},
		{"a flat payload that is named so", labelled(wmco, "v10.21.1"), demanded(t, "4.21"), []string{"--format", "flat"}, 0, []string{"all 19 files"}, "payload.format"},
		{"a named release's format", v1.Config{}, demanded(t, "4.21"), []string{"--release", "4.21"}, 3, []string{"BLOCK   payload.format"}, "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"payload", operatorImage(t, tt.config, tt.files...), "-v", "--accept", "binary.pe.unreadable"}, tt.args...)
			code, out, errs := run(t.Context(), nil, args...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, tt.code, out, errs)
			}
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q isn't in\n%s%s", want, out, errs)
				}
			}
			if strings.Contains(out, tt.not) {
				t.Errorf("%q is in\n%s", tt.not, out)
			}
		})
	}
}

// A part of a payload lacks files because somebody asked for it so; an operator
// lacks them all the same.
func TestPartOfAPayloadIsHeldToItsOperatorOnRequest(t *testing.T) {
	const missing = "payload.operator.file  payload/kube-node/kubelet.exe"
	for _, tt := range []struct {
		config v1.Config
		args   []string
		want   string
	}{
		{ownPayload, nil, ""},
		{ownPayload, []string{"--release", "4.20"}, "WARN    " + missing},
		{wmco, nil, "BLOCK   " + missing},
	} {
		args := append([]string{"payload", operatorImage(t, tt.config, "csi-proxy/csi-proxy.exe"), "-f", pinnedFile, "--only", "csi-proxy"}, tt.args...)
		_, out, _ := run(t.Context(), nil, args...)
		if got := strings.Contains(out, missing); got != (tt.want != "") || !strings.Contains(out, tt.want) {
			t.Errorf("%v %s: want %q\n%s", tt.config, tt.args, tt.want, out)
		}
	}
}

func TestNewReleaseOfAnOperatorIsData(t *testing.T) {
	rows := filepath.Join(t.TempDir(), "rows.yaml")
	text := `apiVersion: winbake.dev/catalog/v1
releases:
  - {openshift: "5.1", kubernetes: "1.37", kubeletSkew: 1, evidence: [{source: lab}]}
operators:
  - {openshift: "5.1", start: "lab/wmco@main:a.go#L1", configure: "lab/wmco@main:b.go#L2"}
payload:
  - {path: new.exe, when: start, from: "5.1", evidence: [{source: lab}]}
`
	if err := os.WriteFile(rows, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	image := operatorImage(t, v1.Config{}, demanded(t, "5.0")...)
	if code, _, errs := run(t.Context(), nil, "payload", image, "--release", "5.1"); code != 1 || !strings.Contains(errs, "it isn't known what the operator of OpenShift 5.1 demands") || !strings.Contains(errs, "4.12, 4.13") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	_, out, errs := run(t.Context(), nil, "payload", image, "--release", "5.1", "--catalog", rows)
	if !strings.Contains(out, "payload.operator.file  payload/new.exe") || strings.Contains(out, "payload.operator.file  payload/kube") {
		t.Errorf("%s%s", out, errs)
	}
}

// What can't be right is told before the payload is opened: there is none here.
func TestPayloadFlagsThatContradict(t *testing.T) {
	for want, args := range map[string][]string{
		"--only names components of versions.yaml, and there is none":  {"--only", "nosuch"},
		"it isn't known what the operator of OpenShift 4.11 demands":   {"--release", "4.11"},
		"it isn't known what the operator of OpenShift latest demands": {"--release", "latest"},
		"the pins are for OpenShift 4.20, and --release is 4.21":       {"--release", "4.21", "-f", pinnedFile},
		"nowhere: no such file or folder":                              {"--catalog", "nowhere"},
	} {
		code, out, errs := run(t.Context(), nil, append([]string{"payload", filepath.Join(t.TempDir(), "none")}, args...)...)
		if code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit code %d, want %q\n%s%s", args, code, want, out, errs)
		}
	}
}
