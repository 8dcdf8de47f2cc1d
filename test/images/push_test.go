package images

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	gcrregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/registry"
	"github.com/winbake/winbake/payload"
)

// Tries come without pauses, and advice is as it is outside of a pod.
func init() {
	registry.Retries = registry.Backoff{First: time.Millisecond, Most: time.Minute, Tries: 6}
	_ = os.Unsetenv("KUBERNETES_SERVICE_HOST")
}

// testRegistry is a registry whose requests pass a hook first.
type testRegistry struct {
	host string
	mu   sync.Mutex
	seen map[string]int // requests by method and kind
	hook func(w http.ResponseWriter, r *http.Request) (handled bool)
}

func newRegistry(t *testing.T, hook func(w http.ResponseWriter, r *http.Request) bool) *testRegistry {
	t.Helper()
	reg := &testRegistry{seen: map[string]int{}, hook: hook}
	inner := gcrregistry.New(gcrregistry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reg.mu.Lock()
		reg.seen[r.Method+" "+kindOfRequest(r)]++
		reg.mu.Unlock()
		if reg.hook != nil && reg.hook(w, r) {
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	reg.host = strings.TrimPrefix(s.URL, "http://")
	return reg
}

func kindOfRequest(r *http.Request) string {
	for _, k := range []string{"uploads", "blobs", "manifests"} {
		if strings.Contains(r.URL.Path, "/"+k+"/") {
			return k
		}
	}
	return "ping"
}

func (r *testRegistry) count(what string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[what]
}

func (r *testRegistry) all() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.seen {
		n += c
	}
	return n
}

func (r *testRegistry) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.seen)
}

// wantPushed pulls ref and checks every byte.
func wantPushed(t *testing.T, ref string) {
	t.Helper()
	r, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	desc, err := remote.Get(r)
	if err != nil {
		t.Fatal(err)
	}
	if desc.MediaType.IsIndex() {
		idx, err := desc.ImageIndex()
		if err == nil {
			err = validIndex(idx)
		}
		if err != nil {
			t.Error(err)
		}
		return
	}
	img, err := desc.Image()
	if err == nil {
		err = validImage(img)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestPush(t *testing.T) {
	reg := newRegistry(t, nil)
	img := payloadImage(t, 1)
	var done, total int64
	o := oci.Options{Progress: func(d, all int64) { done, total = d, all }, UserAgent: "winbake/test"}
	ref, err := oci.Push(t.Context(), reg.host+"/team/payload:4.20", img, o)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := img.Digest()
	if want := reg.host + "/team/payload@" + h.String(); ref != want {
		t.Errorf("pushed as %s, want %s", ref, want)
	}
	if done == 0 || done != total {
		t.Errorf("progress %d of %d", done, total)
	}
	wantPushed(t, ref)
	wantPushed(t, reg.host+"/team/payload:4.20")
	if n := reg.count("PATCH uploads"); n != 2 {
		t.Errorf("%d uploads, want the layer's and the configuration's", n)
	}
	reg.reset()
	done = 0
	if _, err := oci.Push(t.Context(), reg.host+"/team/payload:4.20", img, o); err != nil {
		t.Fatal(err)
	}
	if n := reg.count("PATCH uploads") + reg.count("POST uploads") + reg.count("PUT manifests"); n != 0 {
		t.Errorf("the second push sent %d times", n)
	}
	if done != total {
		t.Errorf("second progress %d of %d", done, total)
	}
}

func TestPushByDigest(t *testing.T) {
	reg := newRegistry(t, nil)
	img := payloadImage(t, 1)
	h, _ := img.Digest()
	if _, err := oci.Push(t.Context(), reg.host+"/p@"+h.String(), img, oci.Options{}); err != nil {
		t.Fatal(err)
	}
	wantPushed(t, reg.host+"/p@"+h.String())
}

func TestPushIndex(t *testing.T) {
	reg := newRegistry(t, nil)
	idx, err := payload.AppendIndex(indexOf(t, map[string]v1.Image{
		"linux/amd64": operatorImage(t, false, linuxAMD64), "linux/arm64": operatorImage(t, false, v1.Platform{OS: "linux", Architecture: "arm64"}),
	}), payload.ImageOptions{}, putting(smallLayer(t, payload.Gzip), payload.ImageOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	ref, err := oci.Push(t.Context(), reg.host+"/op:v1", idx, oci.Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	wantPushed(t, ref)
}

func refuse(code int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && kindOfRequest(r) == "ping" && code != http.StatusUnauthorized {
			return false
		}
		if code == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
		}
		w.WriteHeader(code)
		return true
	}
}

func TestPushErrors(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	goneHost := strings.TrimPrefix(gone.URL, "http://")
	tests := []struct {
		name     string
		hook     func(http.ResponseWriter, *http.Request) bool
		host     string
		want     []string
		requests int // at most; 0: any
	}{
		{"not logged in", refuse(401), "", []string{"answered 401 Unauthorized", "podman login", "may push to team/p"}, 12},
		{"not allowed", refuse(403), "", []string{"answered 403 Forbidden", "let the account push to team/p"}, 12},
		{"no repository", refuse(404), "", []string{"answered 404 Not Found", "create the repository team/p"}, 12},
		{"too many requests", refuse(429), "", []string{"answered 429 Too Many Requests", "run it again later"}, 0},
		{"a long page", failing(9, "POST uploads", saying(413, strings.Repeat("<p>", 50_000))), "", []string{"answered 413 Request Entity Too Large", "raise the limit"}, 12},
		{"a message of two lines", failing(9, "POST uploads", saying(403, `{"errors":[{"code":"DENIED","message":"no\nfix: no"}]}`)), "", []string{"(DENIED no fix: no)"}, 12},
		{"a tag that stays", failing(9, "PUT manifests", saying(400, `{"errors":[{"code":"TAG_INVALID","message":"cannot be overwritten because the tag is immutable."}]}`)), "",
			[]string{"answered 400 Bad Request (TAG_INVALID", "push with another tag"}, 12},
		{"a blob that went", failing(9, "PUT manifests", saying(404, `{"errors":[{"code":"MANIFEST_BLOB_UNKNOWN","message":"blob unknown"}]}`)), "",
			[]string{"answered 404 Not Found (MANIFEST_BLOB_UNKNOWN", "run it again"}, 12},
		{"broken for good", refuse(500), "", []string{"answered 500 Internal Server Error", "run it again"}, 0},
		{"cut for good", failing(1000, "PATCH uploads", cut), "", []string{"cut the connection", "run it again"}, 0},
		{"not there", nil, goneHost, []string{"connection refused", "check the name and the network"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reg := newRegistry(t, tt.hook)
			host := reg.host
			if tt.host != "" {
				host = tt.host
			}
			_, err := oci.Push(t.Context(), host+"/team/p:x", payloadImage(t, 1), oci.Options{Keychain: authn.NewMultiKeychain()})
			wantFault(t, err, 1, append(tt.want, host+"/team/p:x")...)
			if text := err.Error(); strings.Contains(text, "http://") || strings.Contains(text, "PATCH") || strings.Count(text, "\n") > 1 {
				t.Errorf("a raw error shows: %s", text)
			}
			if n := reg.all(); tt.requests > 0 && n > tt.requests {
				t.Errorf("%d requests for an answer that stays", n)
			}
		})
	}
}

func TestPushRefusesReferences(t *testing.T) {
	for _, ref := range []string{"", "UPPER/case", "reg.example/p:bad tag", "reg.example/p@sha256:12"} {
		_, err := oci.Push(t.Context(), ref, smallImage(t), oci.Options{})
		if err == nil {
			t.Errorf("%q passes", ref)
			continue
		}
		checkText(t, err, []string{"not a registry reference"})
	}
}

// elsewhere gives a server a name that isn't local to go-containerregistry,
// which treats local ones with less care.
func elsewhere(t *testing.T, host string) (string, *http.Transport) {
	t.Helper()
	tr := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, host)
	}}
	t.Cleanup(tr.CloseIdleConnections)
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		t.Fatal(err)
	}
	return "registry.example:" + port, tr
}

func TestPushNeedsInsecureForPlainHTTP(t *testing.T) {
	reg := newRegistry(t, nil)
	host, dial := elsewhere(t, reg.host)
	o := oci.Options{Transport: dial}
	_, err := oci.Push(t.Context(), host+"/p:x", smallImage(t), o)
	wantFault(t, err, 1, "speaks plain http", "--plain-http")
	if n := reg.count("GET ping"); n != 0 {
		t.Errorf("%d requests in the clear", n)
	}
	o.Insecure = true
	if _, err := oci.Push(t.Context(), host+"/p:x", smallImage(t), o); err != nil {
		t.Error(err)
	}
}

func TestPushChecksCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(gcrregistry.New(gcrregistry.Logger(log.New(io.Discard, "", 0))))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	host, dial := elsewhere(t, strings.TrimPrefix(s.URL, "https://"))
	_, err := oci.Push(t.Context(), host+"/p:x", smallImage(t), oci.Options{Transport: dial})
	wantFault(t, err, 1, host, "certificate that isn't trusted", "SSL_CERT_FILE")
	local := strings.TrimPrefix(s.URL, "https://") // where plain http is tried too
	_, err = oci.Push(t.Context(), local+"/p:x", smallImage(t), oci.Options{})
	wantFault(t, err, 1, local, "certificate that isn't trusted", "SSL_CERT_FILE")
}

func TestPushEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reg := newRegistry(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		cancel()
		return true
	})
	began := time.Now()
	_, err := oci.Push(ctx, reg.host+"/p:x", smallImage(t), oci.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after %s", err, time.Since(began))
	}
}

// Credentials reach the registry, and only when it asks.
func TestPushLogsIn(t *testing.T) {
	reg := newRegistry(t, func(w http.ResponseWriter, r *http.Request) bool {
		user, password, ok := r.BasicAuth()
		if ok && user == "u" && password == "p" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	keychain := keychainFunc(func(authn.Resource) (authn.Authenticator, error) {
		return &authn.Basic{Username: "u", Password: "p"}, nil
	})
	if _, err := oci.Push(t.Context(), reg.host+"/p:x", smallImage(t), oci.Options{Keychain: keychain}); err != nil {
		t.Error(err)
	}
}

// What a token service answers may hold a secret, and none of it is shown.
func TestPushShowsNoTokens(t *testing.T) {
	reg := newRegistry(t, nil)
	reg.hook = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			_, _ = io.WriteString(w, `{"refresh_token":"SECRET"}`)
			return true
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+reg.host+`/token",service="s"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	_, err := oci.Push(t.Context(), reg.host+"/p:x", smallImage(t), oci.Options{})
	wantFault(t, err, 1, reg.host, "no token in bearer response")
	if strings.Contains(err.Error(), "SECRET") {
		t.Errorf("%v shows it", err)
	}
}

type keychainFunc func(authn.Resource) (authn.Authenticator, error)

func (f keychainFunc) Resolve(r authn.Resource) (authn.Authenticator, error) { return f(r) }

// A registry that says that it has stored an image, and hasn't.
func TestPushToARegistryThatForgets(t *testing.T) {
	reg := newRegistry(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && kindOfRequest(r) == "manifests" {
			w.WriteHeader(http.StatusCreated)
			return true
		}
		return false
	})
	_, err := oci.Push(t.Context(), reg.host+"/p:x", payloadImage(t, 1), oci.Options{})
	wantFault(t, err, 1, reg.host+"/p@sha256:", "says that it took the image, and doesn't have it", "run it again")
}
