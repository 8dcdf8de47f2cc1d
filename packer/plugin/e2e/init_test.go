//go:build e2e

package e2e

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/winbake/winbake/packer/plugin/version"
	"github.com/winbake/winbake/test/packer"
)

// hub plays github.com for one repository's release: packer init has its
// address built in, so it is reached through a proxy that ends the TLS.
type hub struct {
	files map[string][]byte // by URL without https://
	cert  tls.Certificate
}

// released is a release of the plugin: what goreleaser put into the folder DIST,
// else files named as .goreleaser.yml names them. spoil changes the sums.
func released(t *testing.T, spoil func(string) string) *hub {
	t.Helper()
	var config struct {
		Archives []struct {
			NameTemplate string `yaml:"name_template"`
		}
		Checksum struct {
			NameTemplate string `yaml:"name_template"`
		}
		Release struct {
			GitHub struct{ Owner, Name string } `yaml:"github"`
		}
	}
	data, err := os.ReadFile("../.goreleaser.yml")
	if err == nil {
		err = yaml.Unmarshal(data, &config)
	}
	if err != nil {
		t.Fatal(err)
	}
	name := func(text string) string {
		var b strings.Builder
		values := map[string]any{"Version": version.Version, "Os": "linux", "Arch": "amd64", "Env": map[string]string{"API_VERSION": "x5.0"}}
		if err := template.Must(template.New("").Parse(text)).Execute(&b, values); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	repository := config.Release.GitHub.Owner + "/" + config.Release.GitHub.Name
	files := "github.com/" + repository + "/releases/download/v" + version.Version + "/"
	sums := name(config.Checksum.NameTemplate)
	h := &hub{files: map[string][]byte{
		"api.github.com/repos/" + repository + "/git/matching-refs/tags": fmt.Appendf(nil, `[{"ref": "refs/tags/v%s"}]`, version.Version),
	}}
	if dist := os.Getenv("DIST"); dist != "" {
		all, err := filepath.Glob(filepath.Join(dist, "packer-plugin-*_*"))
		if err != nil || len(all) == 0 {
			t.Fatalf("%s has no release: %v", dist, err)
		}
		for _, file := range all {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(file) == sums {
				data = []byte(spoil(string(data)))
			}
			h.files[files+filepath.Base(file)] = data
		}
		return h
	}
	program, err := os.ReadFile(filepath.Join(tools(t).dir, "packer-plugin-winbake"))
	if err != nil {
		t.Fatal(err)
	}
	archive := name(config.Archives[0].NameTemplate)
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.CreateHeader(&zip.FileHeader{Name: archive, Method: zip.Deflate})
	if err == nil {
		_, err = w.Write(program)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	h.files[files+sums] = []byte(spoil(fmt.Sprintf("%x  %s.zip\n", sha256.Sum256(packed.Bytes()), archive)))
	h.files[files+archive+".zip"] = packed.Bytes()
	return h
}

// serve starts the proxy and returns the variables that lead packer to it.
func (h *hub) serve(t *testing.T) []string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, DNSNames: []string{"api.github.com", "github.com"}}
	der, err := x509.CreateCertificate(rand.Reader, own, own, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	h.cert = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(h.connect))
	t.Cleanup(s.Close)
	return []string{"HTTPS_PROXY=" + s.URL, "NO_PROXY=", "SSL_CERT_FILE=" + roots, "PACKER_GITHUB_API_TOKEN="}
}

// connect answers the one request that comes through a tunnel.
func (h *hub) connect(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
		return
	}
	plain, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer plain.Close() // the answer was sent, or the client has gone
	_, _ = plain.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
	conn := tls.Server(plain, &tls.Config{Certificates: []tls.Certificate{h.cert}, MinVersion: tls.VersionTLS12})
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	answer := httptest.NewRecorder()
	if data, ok := h.files[request.Host+request.URL.Path]; ok {
		_, _ = answer.Write(data)
	} else {
		http.NotFound(answer, request)
	}
	result := answer.Result()
	result.Close = true
	_ = result.Write(conn)
	_ = conn.Close()
}

var anySum = regexp.MustCompile(`(?m)^[0-9a-f]{64}`)

// TestInit: packer init finds a release as .goreleaser.yml lays it out, and
// installs it; one whose sum is another it refuses.
func TestInit(t *testing.T) {
	for _, tool := range packer.Packers {
		for name, c := range map[string]struct {
			spoil func(string) string
			want  string
		}{
			"a release":    {func(s string) string { return s }, "Installed plugin github.com/winbake/winbake v" + version.Version},
			"another name": {func(s string) string { return strings.ReplaceAll(s, "packer-plugin-winbake_", "packer-plugin-bake_") }, "could not install any compatible version"},
			"another sum":  {func(s string) string { return anySum.ReplaceAllString(s, strings.Repeat("0", 64)) }, "could not install any compatible version"},
		} {
			t.Run("packer-"+tool.Version+"/"+name, func(t *testing.T) {
				p := packer.New(t, tool)
				p.Env = released(t, c.spoil).serve(t)
				dir := t.TempDir()
				const block = "packer {\n  required_plugins {\n    winbake = {\n      source  = \"" + packer.OwnSource + "\"\n      version = \">= 0.1.0, < 1.0.0\"\n    }\n  }\n}\n"
				if err := os.WriteFile(filepath.Join(dir, "image.pkr.hcl"), []byte(block), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := p.Run(t.Context(), dir, "init", ".")
				if !strings.Contains(out, c.want) || (err == nil) != (name == "a release") {
					t.Fatalf("%v\n%s", err, out)
				}
				installed, err := p.Run(t.Context(), dir, "plugins", "installed")
				if err != nil || strings.Contains(installed, "packer-plugin-winbake_v"+version.Version) != (name == "a release") {
					t.Errorf("%v\n%s", err, installed)
				}
			})
		}
	}
}
