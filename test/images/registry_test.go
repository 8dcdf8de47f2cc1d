package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	gcrregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload/verify"
)

// fast names the client. TestMain keeps it from waiting between its tries.
var fast = oci.Options{UserAgent: "winbake-test"}

// serve starts a registry that holds an image or index as team/payload:v1 and
// returns its host. wrap, which may be nil, sees every later request.
func serve(t *testing.T, a mutate.Appendable, wrap func(http.ResponseWriter, *http.Request, http.Handler)) string {
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
	host := strings.TrimPrefix(srv.URL, "http://")
	tag, err := name.ParseReference(host + "/team/payload:v1")
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
	return host
}

func TestRegistry(t *testing.T) {
	img := stockImage(t, archivedItems(t, nodeFiles))
	idx := indexOf(t, map[string]v1.Image{"linux/amd64": img, "linux/arm64": smallImage(t), "unknown/unknown": imageOf(t)})
	for _, tt := range []struct {
		name   string
		a      mutate.Appendable
		images int
	}{{"image", img, 1}, {"index", idx, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			host := serve(t, tt.a, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if a := r.Header.Get("User-Agent"); !strings.HasPrefix(a, fast.UserAgent) {
					t.Errorf("user agent %q", a)
				}
				next.ServeHTTP(w, r)
			})
			digest, err := tt.a.Digest()
			if err != nil {
				t.Fatal(err)
			}
			byDigest := host + "/team/payload@" + digest.String()
			for _, ref := range []string{host + "/team/payload:v1", byDigest, "docker://" + byDigest} {
				s, err := oci.Load(t.Context(), ref, fast)
				if err != nil {
					t.Fatal(err)
				}
				if s.Reference() != byDigest || s.Kind != oci.KindRegistry {
					t.Errorf("%s: reference %s of a %s, want %s", ref, s.Reference(), s.Kind, byDigest)
				}
				ps, sum, err := verify.Check(t.Context(), s, verify.Options{})
				if err != nil || len(ps) > 0 || len(sum.Images) != tt.images {
					t.Errorf("Check: %+v, %+v, %v", ps, sum, err)
				}
			}
		})
	}
}

// only hands a part of the requests to fn.
func only(part string, fn func(http.ResponseWriter, *http.Request, http.Handler)) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, part) {
			fn(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

func status(code int, part string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return only(part, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, `{"errors":[{"code":"DENIED","message":"no"}]}`, code)
	})
}

func cutAtOnce(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// cutLater sends the first bytes of the right answer and hangs up.
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

// flipBit sends other bytes, as many as are right.
func flipBit(w http.ResponseWriter, r *http.Request, next http.Handler) {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	maps.Copy(w.Header(), rec.Header())
	b := rec.Body.Bytes()
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) { // a layer, and not the configuration
		b[len(b)-20] ^= 1
	}
	_, _ = w.Write(b)
}

func TestRegistryFails(t *testing.T) {
	tests := []struct {
		name string
		wrap func(http.ResponseWriter, *http.Request, http.Handler)
		code int
		want []string
	}{
		{"500 on manifests", status(500, "/manifests/"), 1, []string{"answered 500 Internal Server Error", "run it again"}},
		{"500 on layers", status(500, "/blobs/"), 1, []string{"answered 500 Internal Server Error", "run it again"}},
		{"500 on all", status(500, "/"), 1, []string{"answered 500", "run it again"}},
		{"404 manifest", status(404, "/manifests/"), 1, []string{"answered 404 Not Found", "skopeo list-tags docker://"}},
		{"404 blob", status(404, "/blobs/"), 1, []string{"answered 404 Not Found"}},
		{"401", status(401, "/manifests/"), 1, []string{"answered 401 Unauthorized (DENIED no)", "podman login "}},
		{"403", status(403, "/manifests/"), 1, []string{"answered 403 Forbidden", "podman login "}},
		{"429", status(429, "/manifests/"), 1, []string{"answered 429 Too Many Requests", "wait"}},
		{"cut at once", only("/blobs/", cutAtOnce), 1, []string{"cut the connection", "run it again"}},
		{"cut in the manifest", only("/manifests/", cutLater), 1, []string{"cut the connection", "run it again"}},
		{"cut in a blob", only("/blobs/", cutLater), 1, []string{"cut the connection", "run it again"}},
		{"another layer", only("/blobs/", flipBit), finding.ExitBlock, []string{"another digest", "push the image again"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			host := serve(t, smallImage(t), tt.wrap)
			err := load(t.Context(), host+"/team/payload:v1", fast)
			wantFault(t, err, tt.code, append(tt.want, host)...)
		})
	}
}

func TestResolveBase(t *testing.T) {
	img := smallImage(t)
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	host := serve(t, img, nil)
	byDigest := host + "/team/payload@" + digest.String()
	dir := layoutOf(t, img)
	for _, ref := range []string{byDigest, host + "/team/payload:v1@" + digest.String(), dir, tarFolder(t, dir), dockerSave(t, img)} {
		s, err := oci.Resolve(t.Context(), ref, fast)
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		if _, err := s.Image(); err != nil {
			t.Errorf("%s: %v", ref, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, ref := range []string{host + "/team/payload:v1", "docker://" + host + "/team/payload:v1"} {
		_, err := oci.Resolve(t.Context(), ref, fast)
		wantFault(t, err, finding.ExitError, "fix: name it by its digest: "+byDigest)
	}
	_, err = oci.Resolve(t.Context(), host+"/team/payload", fast) // no tag: latest, which isn't there
	wantFault(t, err, finding.ExitError, "answered 404", host)
	_, err = oci.Resolve(t.Context(), t.TempDir(), fast)
	wantFault(t, err, finding.ExitError, "a plain folder")
}

func TestRegistryGone(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	host := strings.TrimPrefix(srv.URL, "http://")
	srv.Close()
	wantFault(t, load(t.Context(), host+"/x/y:v1", fast), finding.ExitError, host, "connection refused", "curl -I")
}

// A registry that sends half a layer and then nothing must not outlive an
// interrupt, whether that comes before or during the read that waits.
func TestStalledRegistryEndsWithItsContext(t *testing.T) {
	for _, waiting := range []bool{false, true} {
		t.Run(fmt.Sprintf("waiting=%v", waiting), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			host := serve(t, smallImage(t), only("/blobs/", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				rec := httptest.NewRecorder()
				next.ServeHTTP(rec, r)
				if !bytes.HasPrefix(rec.Body.Bytes(), []byte{0x1f, 0x8b}) {
					_, _ = w.Write(rec.Body.Bytes())
					return
				}
				_, _ = w.Write(rec.Body.Bytes()[:100])
				w.(http.Flusher).Flush()
				if !waiting {
					cancel()
				}
				<-r.Context().Done()
			}))
			o := fast
			if waiting {
				o.Transport = cancelsAfter{100, cancel}
			}
			s, err := oci.Load(t.Context(), host+"/team/payload:v1", o) // a longer life than the check's
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := verify.Check(ctx, s, verify.Options{}); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want %v", err, context.Canceled)
			}
		})
	}
}

// cancelsAfter cancels at the read of a layer's body that follows its first n bytes.
type cancelsAfter struct {
	n      int
	cancel context.CancelFunc
}

func (c cancelsAfter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && strings.Contains(r.URL.Path, "/blobs/") && resp.ContentLength < 0 {
		resp.Body = &cancelingBody{resp.Body, c}
	}
	return resp, err
}

type cancelingBody struct {
	io.ReadCloser
	cancelsAfter
}

func (b *cancelingBody) Read(p []byte) (int, error) {
	if b.n <= 0 {
		b.cancel()
	}
	n, err := b.ReadCloser.Read(p)
	b.n -= n
	return n, err
}
