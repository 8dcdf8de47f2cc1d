package images

import (
	"bytes"
	"context"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gcrregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/test/support/memnet"
)

// badRegistry is a registry with a token service, over HTTP/2 and without a
// network: in a bubble, minutes of silence take no time.
type badRegistry struct {
	inner http.Handler
	// fail answers the exchanges that what names, "GET token", the first times.
	what  string
	fail  failure
	times int64

	all, failed atomic.Int64
}

func (b *badRegistry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.all.Add(1)
	if r.Method+" "+b.kindOfExchange(r) == b.what && b.failed.Add(1) <= b.times {
		b.fail(w, r, http.HandlerFunc(b.right))
		return
	}
	b.right(w, r)
}

func (b *badRegistry) right(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/circle":
		circle(w, r, nil)
	case r.URL.Path == "/token":
		_, _ = io.WriteString(w, `{"token":"t"}`)
	case r.Header.Get("Authorization") != "Bearer t":
		w.Header().Set("WWW-Authenticate", `Bearer realm="https://`+memnet.Host+`/token",service="s"`)
		w.WriteHeader(http.StatusUnauthorized)
	default:
		b.inner.ServeHTTP(w, r)
	}
}

// kindOfExchange also tells tokens, an index's images, and configurations from
// layers.
func (b *badRegistry) kindOfExchange(r *http.Request) string {
	kind := kindOfRequest(r)
	switch {
	case r.URL.Path == "/token":
		return "token"
	case kind == "manifests" && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "sha256:"):
		return "child"
	case kind == "blobs" && r.Method == http.MethodGet:
		rec := httptest.NewRecorder()
		b.inner.ServeHTTP(rec, r)
		if bytes.HasPrefix(rec.Body.Bytes(), []byte("{")) {
			return "config"
		}
		return "layer"
	}
	return kind
}

// circle redirects to what redirects again.
func circle(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	http.Redirect(w, r, "/circle", http.StatusTemporaryRedirect)
}

// The ways to fail. Each is over when the client gives up.
var (
	silent = func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() }
	reset  = func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
	// slow takes, or gives, 100 bytes a second.
	slow = func(w http.ResponseWriter, r *http.Request, right http.Handler) {
		if r.ContentLength > 0 {
			for b := make([]byte, 100); r.Context().Err() == nil; time.Sleep(time.Second) {
				_, _ = io.ReadFull(r.Body, b)
			}
			return
		}
		rightBut(w, r, right, func(body []byte) {
			for len(body) > 0 && r.Context().Err() == nil {
				time.Sleep(time.Second)
				n := min(len(body), 100)
				_, _ = w.Write(body[:n])
				w.(http.Flusher).Flush()
				body = body[n:]
			}
		})
	}
	// halfOf gives half of the right answer and cuts the rest off.
	halfOf = func(w http.ResponseWriter, r *http.Request, right http.Handler) {
		rightBut(w, r, right, func(body []byte) {
			_, _ = w.Write(body[:len(body)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		})
	}
	// halfSilent gives half of the right answer and then nothing.
	halfSilent = func(w http.ResponseWriter, r *http.Request, right http.Handler) {
		rightBut(w, r, right, func(body []byte) {
			_, _ = w.Write(body[:len(body)/2])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
	}
	lostUpload = func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"errors":[{"code":"BLOB_UPLOAD_UNKNOWN","message":"blob upload unknown to registry"}]}`)
	}
	noName = func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"errors":[{"code":"NAME_UNKNOWN","message":"repository name not known to registry"}]}`)
	}
	// expired takes no token for good.
	expired = func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="https://`+memnet.Host+`/token",service="s"`)
		w.WriteHeader(http.StatusUnauthorized)
	}
	// plainUpload is of a registry that doesn't know of the TLS before it.
	plainUpload = func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Location", "http://"+memnet.Host+":8080/v2/team/p/blobs/uploads/1")
		w.WriteHeader(http.StatusAccepted)
	}
	page = func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		_, _ = io.WriteString(w, "<html>Log in</html>")
	}
	later = func(asked string) failure {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Retry-After", asked)
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}
)

// rightBut sends the head of the right answer and leaves the body to send.
func rightBut(w http.ResponseWriter, r *http.Request, right http.Handler, send func(body []byte)) {
	rec := httptest.NewRecorder()
	right.ServeHTTP(rec, r)
	maps.Copy(w.Header(), rec.Header())
	w.WriteHeader(rec.Code)
	send(rec.Body.Bytes())
}

type failure = func(w http.ResponseWriter, r *http.Request, right http.Handler)

// badRun is one kind of exchange that fails: once, or always.
type badRun struct {
	what string
	fail failure
	want []string // in the error of one that always fails; nil: it fails once, which passes
	most int64    // how often it may be tried; 0: as often as it may pass
}

// passing are failures of the moment, by the exchange that they hit.
func passing(by map[string][]failure) (runs []badRun) {
	for what, fails := range by {
		for _, f := range fails {
			runs = append(runs, badRun{what: what, fail: f})
		}
	}
	return runs
}

// each does something with a registry that fails in each of the ways. prepare
// comes before the failures. There is one job at a time: who waits for another's
// mutex would keep the bubble's clock from going on.
func each(t *testing.T, runs []badRun, prepare, do func(context.Context, http.RoundTripper) error) {
	for _, run := range runs {
		t.Run(run.what+"/"+strings.Join(run.want, " "), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &badRegistry{inner: gcrregistry.New(gcrregistry.Logger(log.New(io.Discard, "", 0)))}
				tr := memnet.TLS(t, b)
				if err := prepare(t.Context(), tr); err != nil {
					t.Fatal(err)
				}
				before := b.all.Load()
				b.what, b.fail, b.times = run.what, run.fail, 1
				if run.want != nil {
					b.times = 1 << 32
				}
				err := do(t.Context(), tr)
				if b.failed.Load() == 0 {
					t.Errorf("there was no %s", run.what)
				}
				if n := b.all.Load() - before; n > 150 || run.most > 0 && b.failed.Load() > run.most {
					t.Errorf("%d exchanges, %d of them %s", n, b.failed.Load(), run.what)
				}
				if run.want != nil {
					wantFault(t, err, 1, append(run.want, "registry "+memnet.Host)...)
				} else if err != nil {
					t.Errorf("%s failed once: %v", run.what, err)
				}
			})
		})
	}
}

const badRef = memnet.Host + "/team/p:x"

func TestPushToABadRegistry(t *testing.T) {
	t.Parallel()
	const unanswered = "no answer within 2m0s to "
	each(t, append(passing(map[string][]failure{
		"GET ping": {silent, reset}, "GET token": {silent, reset, halfOf, halfSilent},
		"HEAD blobs": {silent, reset}, "POST uploads": {silent, reset, later("20")},
		"PATCH uploads": {silent, reset, lostUpload, later("20")}, "PUT uploads": {silent, reset, lostUpload},
		"HEAD manifests": {silent, reset}, "PUT manifests": {silent, reset, later("20")},
	}), []badRun{
		{"GET ping", silent, []string{unanswered + "GET https://example.com/v2/", "--registry-timeout 10m0s"}, 2},
		{"GET token", silent, []string{unanswered + "GET https://example.com/token"}, 2},
		{"GET token", halfSilent, []string{"came of the answer to GET https://example.com/token"}, 2},
		{"PATCH uploads", silent, []string{unanswered + "PATCH https://example.com/v2/team/p/blobs/uploads/"}, 4},
		{"PUT manifests", silent, []string{unanswered + "PUT https://example.com/v2/team/p/manifests/x"}, 2},
		{"PUT uploads", lostUpload, []string{"BLOB_UPLOAD_UNKNOWN", "run it again", "tell those who run"}, 0},
		{"POST uploads", noName, []string{"NAME_UNKNOWN", "create the repository team/p"}, 2},
		{"PATCH uploads", later("3600"), []string{"answered 429 Too Many Requests, and wants no request for 1h0m0s", "run it again after that"}, 2},
		{"PUT manifests", later("Fri, 31 Dec 2100 00:00:00 GMT"), []string{"wants no request for"}, 1},
		{"HEAD blobs", circle, []string{"redirects in circles: more than 8 redirects", "tell those who run"}, 2},
		{"PATCH uploads", expired, []string{"answered 401 Unauthorized", "podman login example.com, with an account that may push to team/p"}, 4},
		{"POST uploads", plainUpload, []string{"leads to plain http: http://example.com:8080", "X-Forwarded-Proto: https"}, 2},
		{"GET token", page, []string{"token service gave an answer that isn't JSON", "curl -I https://example.com/v2/"}, 1},
	}...), nothing, pushing(payloadImage(t, 1)))
	tree, _ := treeOf(payload.Flat, map[string]string{"a.exe": programLike(1, 8<<20)}) // more than HTTP/2 buffers
	large := must(payload.NewImage(newTestLayer(t, tree, newMemStore(), payload.LayerOptions{}), payload.ImageOptions{}))
	each(t, []badRun{
		{"PATCH uploads", slow, nil, 0},
		{"PATCH uploads", slow, []string{"less than 1024 bytes a second were taken of PATCH https://example.com/v2/team/p/blobs/uploads/"}, 4},
	}, nothing, pushing(large))
}

// A request that is sent again with a new token has all of its body.
func TestPushWithATokenThatExpires(t *testing.T) {
	t.Parallel()
	dir := layoutOf(t, payloadImage(t, 1))
	each(t, passing(map[string][]failure{"POST uploads": {expired}, "PATCH uploads": {expired}, "PUT manifests": {expired}}), nothing,
		func(ctx context.Context, tr http.RoundTripper) error {
			s, err := oci.Load(ctx, dir, oci.Options{})
			if err != nil {
				return err
			}
			defer s.Close()
			o := oci.Options{Jobs: 1, Transport: tr, Retrying: func(err error) { t.Errorf("tried again: %v", err) }}
			ref, err := oci.Push(ctx, badRef, must(s.Image()), o)
			if err != nil {
				return err
			}
			return load(ctx, ref, oci.Options{Transport: tr})
		})
}

func nothing(context.Context, http.RoundTripper) error { return nil }

// pushing pushes, and reads what was pushed.
func pushing(img v1.Image) func(context.Context, http.RoundTripper) error {
	return func(ctx context.Context, tr http.RoundTripper) error {
		ref, err := oci.Push(ctx, badRef, img, oci.Options{Jobs: 1, Transport: tr})
		if err != nil {
			return err
		}
		return load(ctx, ref, oci.Options{Transport: tr})
	}
}

func TestReadFromABadRegistry(t *testing.T) {
	t.Parallel()
	idx := indexOf(t, map[string]v1.Image{"linux/amd64": payloadImage(t, 2)})
	const unanswered = "no answer within 2m0s to GET https://example.com/"
	each(t, append(passing(map[string][]failure{
		"GET ping": {silent, reset, later("20")}, "GET token": {silent, reset, halfOf, halfSilent},
		"GET manifests": {silent, reset, halfOf, halfSilent, later("20")}, "GET child": {silent, reset, halfOf, halfSilent, later("20")},
		"GET config": {silent, reset, halfOf, halfSilent, later("20")}, "GET layer": {silent, reset, slow, halfOf, halfSilent, later("20")},
	}), []badRun{
		{"GET ping", silent, []string{unanswered + "v2/", "--registry-timeout 10m0s"}, 2},
		{"GET token", silent, []string{unanswered + "token"}, 2},
		{"GET manifests", silent, []string{unanswered + "v2/team/p/manifests/x"}, 2},
		{"GET child", silent, []string{unanswered + "v2/team/p/manifests/sha256:"}, 2},
		{"GET config", silent, []string{unanswered + "v2/team/p/blobs/sha256:"}, 2},
		{"GET layer", silent, []string{unanswered + "v2/team/p/blobs/sha256:"}, 2},
		{"GET layer", slow, []string{"sent nothing more after", "the last of 2 times", "skopeo copy"}, 2},
		{"GET layer", halfSilent, []string{"sent nothing more after", "the last of 2 times", "skopeo copy"}, 2},
		{"GET layer", halfOf, []string{"cut the connection after", "the last of 6 times", "skopeo copy"}, 6},
		{"GET manifests", later("3600"), []string{"answered 429 Too Many Requests, and wants no request for 1h0m0s", "run it again after that"}, 1},
		{"GET ping", circle, []string{"redirects in circles: more than 8 redirects"}, 9},
		{"GET manifests", circle, []string{"redirects in circles: more than 8 redirects"}, 1},
		{"GET layer", circle, []string{"redirects in circles: more than 8 redirects"}, 1},
	}...), func(ctx context.Context, tr http.RoundTripper) error {
		_, err := oci.Push(ctx, badRef, idx, oci.Options{Jobs: 1, Transport: tr})
		return err
	}, func(ctx context.Context, tr http.RoundTripper) error {
		return load(ctx, badRef, oci.Options{Transport: tr})
	})
}
