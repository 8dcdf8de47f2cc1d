package release

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	gcrregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/registry"
	"github.com/winbake/winbake/test/support/memnet"
)

// fast names the client. TestMain keeps it from waiting between its tries.
var fast = oci.Options{UserAgent: "winbake-test"}

func TestMain(m *testing.M) {
	registry.Retries = registry.Backoff{First: time.Millisecond, Most: time.Minute, Tries: 3}
	_ = os.Unsetenv("KUBERNETES_SERVICE_HOST") // in a pod, advice is another one
	os.Exit(m.Run())
}

type wrapper func(http.ResponseWriter, *http.Request, http.Handler)

// serve starts a registry that holds a as ocp/release:4.20.3 and returns that
// reference. wrap, which may be nil, sees every later request.
func serve(t *testing.T, a mutate.Appendable, wrap wrapper) string {
	t.Helper()
	reg := gcrregistry.New(gcrregistry.Logger(log.New(io.Discard, "", 0)))
	filled := false
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if filled && wrap != nil {
			wrap(w, r, reg)
			return
		}
		reg.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	ref := strings.TrimPrefix(srv.URL, "http://") + "/ocp/release:4.20.3"
	tag, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	switch a := a.(type) {
	case v1.ImageIndex:
		err = remote.WriteIndex(tag, a)
	case v1.Image:
		err = remote.Write(tag, a)
	}
	if err != nil {
		t.Fatal(err)
	}
	filled = true
	return ref
}

func only(part string, fn wrapper) wrapper {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, part) {
			fn(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

func status(code int, part string) wrapper {
	return only(part, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, `{"errors":[{"code":"DENIED","message":"no"}]}`, code)
	})
}

func cutAtOnce(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// cutLater sends the first half of the right answer and hangs up.
func cutLater(w http.ResponseWriter, r *http.Request, next http.Handler) {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	maps.Copy(w.Header(), rec.Header())
	w.Header().Set("Content-Length", strconv.Itoa(rec.Body.Len()))
	_, _ = w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}

// flipBit sends other bytes for a layer, as many as are right.
func flipBit(w http.ResponseWriter, r *http.Request, next http.Handler) {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	maps.Copy(w.Header(), rec.Header())
	b := rec.Body.Bytes()
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		b[len(b)-20] ^= 1
	}
	_, _ = w.Write(b)
}

// Only the manifest and the top layer are fetched: neither the layers below
// nor the images that the release names.
func TestRegistryReadsOneLayer(t *testing.T) {
	var blobs atomic.Int32
	ref := serve(t, releaseOf(t), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if a := r.Header.Get("User-Agent"); !strings.HasPrefix(a, fast.UserAgent) {
			t.Errorf("user agent %q", a)
		}
		if strings.Contains(r.URL.Path, "/blobs/") && r.Method == http.MethodGet {
			blobs.Add(1)
		}
		next.ServeHTTP(w, r)
	})
	wantRelease(t, ref, fast)
	wantRelease(t, "docker://"+ref, fast)
	if n := blobs.Load(); n > 4 { // layer and configuration, twice
		t.Errorf("%d blobs were fetched", n)
	}
}

func TestRegistryIndex(t *testing.T) {
	other := imageOfLayers(t, layerOf(t, "a", "b"))
	add := func(img v1.Image, arch string) mutate.IndexAddendum {
		return mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}}
	}
	wantRelease(t, serve(t, mutate.AppendManifests(empty.Index, add(other, "arm64"), add(releaseOf(t), "amd64")), nil), fast)
	mainframe := serve(t, mutate.AppendManifests(empty.Index, add(releaseOf(t), "s390x"), add(other, "arm64")), nil)
	wantRelease(t, mainframe, fast)
	if p, _, err := Read(t.Context(), mainframe, fast); err != nil || p.Architecture != "s390x" {
		t.Errorf("it is for %q, %v", p.Architecture, err)
	}
	_, _, err := Read(t.Context(), serve(t, empty.Index, nil), fast)
	wantFault(t, err, "holds no Linux image")
}

func TestRegistryFails(t *testing.T) {
	tests := []struct {
		name string
		wrap wrapper
		want []string
	}{
		{"500 on manifests", status(500, "/manifests/"), []string{"answered 500 Internal Server Error", "run it again", "release.txt"}},
		{"500 on layers", status(500, "/blobs/"), []string{"answered 500 Internal Server Error", "run it again"}},
		{"404", status(404, "/manifests/"), []string{"answered 404 Not Found", "skopeo list-tags docker://"}},
		{"401", status(401, "/manifests/"), []string{"answered 401 Unauthorized", "podman login "}},
		{"429", status(429, "/manifests/"), []string{"answered 429 Too Many Requests", "wait"}},
		{"418", status(418, "/manifests/"), []string{"answered 418", "curl -I"}},
		{"cut at once", only("/blobs/", cutAtOnce), []string{"cut the connection", "run it again"}},
		{"cut in the manifest", only("/manifests/", cutLater), []string{"cut the connection"}},
		{"cut in a blob", only("/blobs/", cutLater), []string{"cut the connection"}},
		{"other bytes", only("/blobs/", flipBit), []string{"another digest"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ref := serve(t, releaseOf(t), tt.wrap)
			_, _, err := Read(t.Context(), ref, fast)
			host, _, _ := strings.Cut(ref, "/")
			wantFault(t, err, append(tt.want, host)...)
		})
	}
}

func TestRegistryGone(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	ref := strings.TrimPrefix(srv.URL, "http://") + "/ocp/release:4.20.3"
	srv.Close()
	_, _, err := Read(t.Context(), ref, fast)
	wantFault(t, err, "connection refused", "release.txt")
}

// The advice is that of verify payload.
func TestPlainHTTP(t *testing.T) {
	o := fast
	o.Transport = memnet.Plain(t, http.NotFoundHandler())
	for _, host := range []string{"10.11.12.13:5000", "registry.example"} {
		_, _, err := Read(t.Context(), host+"/ocp/release:4.20.3", o)
		wantFault(t, err, "registry "+host+" speaks plain http", "--plain-http")
	}
	wantRelease(t, serve(t, releaseOf(t), nil), oci.Options{Insecure: true})
}

// A registry that sends half a layer and then nothing ends with the context.
func TestStalledRegistry(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ref := serve(t, releaseOf(t), only("/blobs/", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		if !bytes.HasPrefix(rec.Body.Bytes(), []byte{0x1f, 0x8b}) {
			_, _ = w.Write(rec.Body.Bytes())
			return
		}
		_, _ = w.Write(rec.Body.Bytes()[:20])
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}))
	if _, _, err := Read(ctx, ref, fast); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
