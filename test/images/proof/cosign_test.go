// Package proof holds our signatures to cosign's own program, and its to ours. It
// compiles cosign, which takes minutes the first time: make e2e-proof.
package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
	"github.com/winbake/winbake/internal/cli/verify"
)

const cosignVersion = "v3.1.3"

// installCosign compiles cosign and returns what runs it.
func installCosign(t *testing.T) func(args ...string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	install := exec.CommandContext(t.Context(), "go", "install", "github.com/sigstore/cosign/v3/cmd/cosign@"+cosignVersion)
	install.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=")
	install.Dir = bin
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "cosign"), args...)
		cmd.Env = append(os.Environ(), "COSIGN_PASSWORD=pass word", "HOME="+bin)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

func run(t *testing.T, build func(*app.App) *cobra.Command, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	a := &app.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}
	code := a.Run(context.WithoutCancel(t.Context()), build(a), args)
	return out.String(), code
}

func TestCosign(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("COSIGN_PASSWORD", "pass word")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	file := "version = 2\n"
	pins := fmt.Sprintf("apiVersion: winbake.dev/v1\nrelease: \"4.21\"\ngo: local\ncomponents:\n  - {name: a, file: a.toml, sha256: %x, payload: containerd/a.toml}\n", sha256.Sum256([]byte(file)))
	for name, text := range map[string]string{"a.toml": file, "versions.yaml": pins} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cosign := installCosign(t)
	must := func(t *testing.T, args ...string) string {
		t.Helper()
		out, err := cosign(args...)
		if err != nil {
			t.Fatalf("cosign %q: %v\n%s", args, err, out)
		}
		return out
	}
	must(t, "generate-key-pair")
	must(t, "generate-key-pair", "--output-key-prefix", "other")
	ours := func(t *testing.T, build func(*app.App) *cobra.Command, want int, args ...string) {
		t.Helper()
		out, code := run(t, build, args...)
		if code != want {
			t.Fatalf("%q: exit %d\n%s", args, code, out)
		}
	}
	ours(t, bake.New, 0, "lock")
	for name, options := range map[string][]registry.Option{"referrers": {registry.WithReferrersSupport(true)}, "fallback tag": nil} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(registry.New(append(options, registry.Logger(log.New(io.Discard, "", 0)))...))
			defer s.Close()
			ref := strings.TrimPrefix(s.URL, "http://") + "/me/payload:1"
			theirs := strings.TrimPrefix(s.URL, "http://") + "/me/theirs:1"
			check := func(command, key string, more ...string) []string {
				return append([]string{command, "--insecure-ignore-tlog=true", "--allow-http-registry", "--key", key}, more...)
			}

			ours(t, bake.New, 0, "payload", "--push", ref, "--sign-key", "cosign.key", "--builder-id", "https://ci.example/1")
			must(t, check("verify", "cosign.pub", ref)...)
			if out := must(t, check("verify-attestation", "cosign.pub", "--type", "slsaprovenance1", ref)...); !strings.Contains(out, `"payloadType":"application/vnd.in-toto+json"`) {
				t.Errorf("no attestation in\n%s", out)
			}
			if out, err := cosign(check("verify", "other.pub", ref)...); err == nil {
				t.Errorf("another key is believed\n%s", out)
			}
			ours(t, verify.New, 0, "payload", ref, "-f", "versions.yaml", "--key", "cosign.pub", "--require", "sbom,signature,provenance")
			ours(t, verify.New, 3, "payload", ref, "--key", "other.pub")

			ours(t, bake.New, 0, "payload", "--push", theirs)
			if out, err := cosign(check("verify", "cosign.pub", theirs)...); err == nil {
				t.Errorf("nobody signed it\n%s", out)
			}
			must(t, "sign", "--key", "cosign.key", "--tlog-upload=false", "--use-signing-config=false", "--new-bundle-format=true", "--allow-http-registry", "-y", theirs)
			ours(t, verify.New, 0, "payload", theirs, "--key", "cosign.pub")
			ours(t, verify.New, 3, "payload", theirs, "--key", "other.pub")
			ours(t, verify.New, 3, "payload", theirs, "--key", "cosign.pub", "--require", "provenance")
			ours(t, bake.New, 0, "attest", theirs, "--sign-key", "other.key")
			ours(t, verify.New, 0, "payload", theirs, "--key", "other.pub")
		})
	}
}
