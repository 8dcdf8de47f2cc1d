package images

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
	"github.com/winbake/winbake/internal/cli/verify"
	"github.com/winbake/winbake/test/support/keypair"
)

var changes = flag.Int("changes", 150, "single bytes to change in TestEachChangeIsSeen")

// liar serves a registry, with one byte of one answer changed.
type liar struct {
	http.Handler

	mu      sync.Mutex
	answers map[string]int // bytes of each path that was read
	path    string         // whose answer is changed
	at      int
	bit     byte
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := httptest.NewRecorder()
	l.Handler.ServeHTTP(rec, r)
	body := rec.Body.Bytes()
	l.mu.Lock()
	if r.Method == http.MethodGet && rec.Code == http.StatusOK && len(body) > 0 {
		l.answers[r.URL.Path] = len(body)
		if r.URL.Path == l.path {
			body = slices.Clone(body)
			body[l.at] ^= l.bit
		}
	}
	l.mu.Unlock()
	for key, values := range rec.Header() {
		w.Header()[key] = values
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(body) // the client sees what is missing
}

// TestEachChangeIsSeen changes single bytes of what a registry answers: of the image, its
// manifest, referrers and bundles. Each is an error or a finding, or the answer is exactly
// what it was: a byte that nothing depends on, such as a space in a list.
func TestEachChangeIsSeen(t *testing.T) {
	for name, referrers := range map[string]bool{"referrers": true, "fallback tag": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed(t, referrers)
		})
	}
}

func changed(t *testing.T, referrers bool) {
	dir := t.TempDir()
	err := keypair.Write(filepath.Join(dir, "key"), filepath.Join(dir, "key.pub"))
	conf := "version = 2\n"
	pins := fmt.Sprintf("apiVersion: winbake.dev/v1\nrelease: \"4.21\"\ngo: local\ncomponents:\n  - {name: conf, file: conf.toml, sha256: %s, payload: containerd/conf.toml}\n", sumOf(conf))
	for name, text := range map[string]string{"conf.toml": conf, "versions.yaml": pins} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	l := &liar{Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(referrers)), answers: map[string]int{}}
	server := httptest.NewServer(l)
	defer server.Close()
	versions, ref := filepath.Join(dir, "versions.yaml"), strings.TrimPrefix(server.URL, "http://")+"/me/payload:1"
	ask := func(args ...string) (int, string) {
		var stdout, stderr bytes.Buffer
		a := &app.App{Stdout: &stdout, Stderr: &stderr}
		root := bake.New(a)
		if args[0] == "verify" {
			root, args = verify.New(a), args[1:]
		}
		return a.Run(t.Context(), root, args), stdout.String() + stderr.String()
	}
	for _, args := range [][]string{
		{"lock", "-f", versions, "--cache-dir", dir + "/cache"},
		{"payload", "-f", versions, "--cache-dir", dir + "/cache", "--push", ref, "--sign-key", dir + "/key", "--builder-id", "https://ci.example/1"},
	} {
		if code, said := ask(args...); code != 0 {
			t.Fatal(code, said)
		}
	}
	l.answers = map[string]int{}
	check := []string{"verify", "payload", ref, "-f", versions, "--key", dir + "/key.pub", "--require", "sbom,signature,provenance", "-q", "-v", "--registry-timeout", "5s"}
	right, said := ask(check...)
	if right != 0 || strings.Count(said, "PASS") < 5 {
		t.Fatal(right, said)
	}
	var paths []string
	for path := range l.answers {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	if len(paths) < 8 {
		t.Fatalf("it read only %q", paths)
	}
	choose := rand.New(rand.NewPCG(1, uint64(*changes)))
	seen, without := 0, map[string]int{}
	for range *changes {
		l.mu.Lock()
		l.path = paths[choose.IntN(len(paths))]
		l.at, l.bit = choose.IntN(l.answers[l.path]), 1<<choose.IntN(8)
		l.mu.Unlock()
		code, now := ask(check...)
		switch {
		case code != 0:
			seen++
		case now == said:
			without[l.path]++
		default:
			t.Errorf("%s, byte %d ^ %#x: exit code 0, and it says\n%s", l.path, l.at, l.bit, now)
		}
	}
	t.Logf("%d changes seen, without effect: %v", seen, without)
	for path, n := range without {
		if strings.Contains(path, "/blobs/") || strings.Contains(path, "/manifests/sha256:") {
			t.Errorf("%s: %s changes of what a digest names weren't seen", path, strconv.Itoa(n))
		}
	}
}
