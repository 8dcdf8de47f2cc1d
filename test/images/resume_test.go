package images

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/registry"
	"github.com/winbake/winbake/payload/verify"
)

// layersOnly hands the n-th answer with a layer to fn, counted from 1.
func layersOnly(fn func(n int64, w http.ResponseWriter, r *http.Request, body []byte)) func(http.ResponseWriter, *http.Request, http.Handler) {
	var n atomic.Int64
	return only("/blobs/", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		maps.Copy(w.Header(), rec.Header())
		if body := rec.Body.Bytes(); bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
			fn(n.Add(1), w, r, body)
			return
		}
		_, _ = w.Write(rec.Body.Bytes())
	})
}

// half sends the first half of an answer that says it is longer.
func half(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body[:len(body)/2])
	w.(http.Flusher).Flush()
}

// asBase does with a base in a registry what bake does.
func asBase(t *testing.T, host string, digest fmt.Stringer, o oci.Options) error {
	t.Helper()
	s, err := oci.Resolve(t.Context(), host+"/team/payload@"+digest.String(), o)
	if err != nil {
		return err
	}
	var base oci.ImageOrIndex = s.Index()
	if s.Index() == nil {
		base = must(s.Image())
	}
	if _, err := verify.ReadBase(t.Context(), s, newMemStore(), nil); err != nil {
		return err
	}
	_, err = oci.WriteLayout(t.Context(), filepath.Join(t.TempDir(), "image"), base, nil)
	return err
}

// One line that breaks mustn't cost a bake of an hour.
func TestLayersSurviveACutConnection(t *testing.T) {
	t.Parallel()
	cut := func(w http.ResponseWriter, body []byte) {
		half(w, body)
		panic(http.ErrAbortHandler)
	}
	single := imageOf(t, layerOf(t, item{name: "etc/x", body: "x"}))
	for kind, a := range map[string]oci.ImageOrIndex{"image": single, "index": indexOf(t, map[string]v1.Image{"linux/amd64": single})} {
		t.Run(kind, func(t *testing.T) {
			host := serve(t, a, layersOnly(func(n int64, w http.ResponseWriter, _ *http.Request, body []byte) {
				if n%2 == 1 {
					cut(w, body)
				}
				_, _ = w.Write(body)
			}))
			if err := asBase(t, host, must(a.Digest()), fast); err != nil {
				t.Errorf("a connection that broke once: %v", err)
			}
		})
	}
	var fetched atomic.Int64
	host := serve(t, single, layersOnly(func(n int64, w http.ResponseWriter, _ *http.Request, body []byte) {
		fetched.Store(n)
		cut(w, body)
	}))
	err := asBase(t, host, must(single.Digest()), fast)
	wantFault(t, err, finding.ExitError, host, "cut the connection", "skopeo copy --all docker://"+host, must(must(single.Layers())[0].Digest()).String())
	if fetched.Load() != int64(registry.Retries.Tries) {
		t.Errorf("fetched %d times, want %d", fetched.Load(), registry.Retries.Tries)
	}
}

// What is passed on before a cut must belong to what comes after it.
func TestLayersOfOtherBytes(t *testing.T) {
	t.Parallel()
	img := imageOf(t, layerOf(t, item{name: "etc/x", body: strings.Repeat("x", 1000)}))
	flipped := func(body []byte, at int) []byte {
		body = bytes.Clone(body)
		body[at] ^= 1
		return body
	}
	for name, answer := range map[string]func(int64, http.ResponseWriter, *http.Request, []byte){
		"always": func(_ int64, w http.ResponseWriter, _ *http.Request, body []byte) {
			_, _ = w.Write(flipped(body, len(body)/2))
		},
		"up to a cut": func(n int64, w http.ResponseWriter, _ *http.Request, body []byte) {
			if n == 1 {
				half(w, flipped(body, 4)) // the time in gzip's header: nothing but the digest tells
				panic(http.ErrAbortHandler)
			}
			_, _ = w.Write(body)
		},
	} {
		t.Run(name, func(t *testing.T) {
			host := serve(t, img, layersOnly(answer))
			err := asBase(t, host, must(img.Digest()), fast)
			wantFault(t, err, finding.ExitBlock, host, "another digest", "push the image again")
		})
	}
}
