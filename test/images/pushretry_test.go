package images

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/image/oci"
)

// failing makes the first n requests of a kind fail.
func failing(n int, what string, fail func(http.ResponseWriter, *http.Request)) func(http.ResponseWriter, *http.Request) bool {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if n == 0 || r.Method+" "+kindOfRequest(r) != what {
			return false
		}
		n--
		fail(w, r)
		return true
	}
}

func answering(code int) func(http.ResponseWriter, *http.Request) { return saying(code, "") }

func saying(code int, text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	}
}

// cut reads some of the body and then cuts the connection.
func cut(w http.ResponseWriter, r *http.Request) {
	_, _ = io.CopyN(io.Discard, r.Body, 100<<10)
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset, not an end
	}
	_ = conn.Close()
}

func TestPushSurvives(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		hook func(http.ResponseWriter, *http.Request) bool
	}{
		{"500 to the ping", failing(3, "GET ping", answering(500))},
		{"a cut ping", failing(1, "GET ping", cut)},
		{"503 to a question", failing(3, "HEAD blobs", answering(503))},
		{"500 to the start of an upload", failing(4, "POST uploads", answering(500))},
		{"502 to an upload", failing(3, "PATCH uploads", answering(502))},
		{"429 to an upload", failing(2, "PATCH uploads", answering(429))},
		{"a cut upload", failing(3, "PATCH uploads", cut)},
		{"a cut question", failing(3, "HEAD blobs", cut)},
		{"504 to the end of an upload", failing(3, "PUT uploads", answering(504))},
		{"500 to the manifest", failing(3, "PUT manifests", answering(500))},
		{"a cut manifest", failing(3, "PUT manifests", cut)},
		{"an upload that is forgotten", failing(1, "PUT uploads", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"errors":[{"code":"BLOB_UPLOAD_INVALID","message":"gone"}]}`)
		})},
	}
	img := payloadImage(t, 1)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reg := newRegistry(t, tt.hook)
			var mu sync.Mutex
			var retries int
			var last, total int64
			ref, err := oci.Push(t.Context(), reg.host+"/p:x", img, oci.Options{
				Progress: func(d, all int64) { last, total = d, all },
				Retrying: func(error) { mu.Lock(); retries++; mu.Unlock() },
			})
			if err != nil {
				t.Fatal(err)
			}
			wantPushed(t, ref)
			if retries == 0 {
				t.Error("nothing was tried again")
			}
			if last != total {
				t.Errorf("progress ends at %d of %d", last, total)
			}
		})
	}
}

// A push of many blobs goes on as long as some arrive: each of them fails once.
func TestPushOfManyBlobsSurvives(t *testing.T) {
	t.Parallel()
	var layers []v1.Layer
	for i := range 9 {
		layers = append(layers, layerOf(t, item{name: "x", body: strconv.Itoa(i)}))
	}
	var mu sync.Mutex
	failed := map[string]bool{}
	reg := newRegistry(t, func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		digest := r.URL.Query().Get("digest")
		if r.Method != http.MethodPut || digest == "" || failed[digest] {
			return false
		}
		failed[digest] = true
		w.WriteHeader(http.StatusBadGateway)
		return true
	})
	ref, err := oci.Push(t.Context(), reg.host+"/p:x", imageOf(t, layers...), oci.Options{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := load(t.Context(), ref, oci.Options{}); err != nil {
		t.Error(err)
	}
	if len(failed) != 10 { // the configuration too
		t.Errorf("%d blobs failed", len(failed))
	}
}
