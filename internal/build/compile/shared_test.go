package compile

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/build/cache"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/image/oci"
	imageregistry "github.com/winbake/winbake/internal/image/registry"
)

const program = "the bytes of a program"

// told keeps warnings.
type told struct {
	mu   sync.Mutex
	text []string
}

func (s *told) Emit(e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, string(e.State)+" "+e.Message)
}

func (s *told) String() string { return strings.Join(s.text, "\n") }

// sharedJob is a job with a pinned toolchain, which needs no Go to be known.
func sharedJob(output *pins.Output) *Job {
	return &Job{
		File:      &pins.File{Go: "1.26.8", Path: "versions.yaml"},
		Component: &pins.Component{Name: "tool", Module: "example.com/tool", Version: "v1.0.0", Package: "./cmd/tool"},
		Locked:    &pins.Locked{Module: "example.com/tool", Version: "v1.0.0", Sum: "h1:x", Output: output},
	}
}

func sharedBuilder(t *testing.T, s *Shared) (*Builder, *told) {
	t.Helper()
	store, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	said := &told{}
	return &Builder{Store: store, Events: said, Shared: s}, said
}

// built puts a program into the builder's store as if it had compiled it, and returns
// what the lock then has of it.
func built(t *testing.T, b *Builder, job *Job, text string) *pins.Output {
	t.Helper()
	action := NewAction(job, "go1.26.8").Digest()
	digest, size, err := b.Store.Put(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Store.PutAction(action, record{digest, size}); err != nil {
		t.Fatal(err)
	}
	return &pins.Output{Action: action, SHA256: digest, Size: size}
}

func serveRegistry(t *testing.T, wrap func(http.Handler) http.Handler) (repository string) {
	t.Helper()
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	if wrap != nil {
		handler = wrap(handler)
	}
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://") + "/me/cache"
}

func quickRetries(t *testing.T) {
	t.Helper()
	retries := imageregistry.Retries
	imageregistry.Retries.Tries = 1
	t.Cleanup(func() { imageregistry.Retries = retries })
}

// Two workers push what one has, and a machine without Go gets it.
func TestShared(t *testing.T) {
	var puts atomic.Int32
	ref := serveRegistry(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/manifests/") {
				puts.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	})
	job := sharedJob(nil)
	for range 2 {
		b, said := sharedBuilder(t, &Shared{To: ref})
		job.Locked.Output = built(t, b, sharedJob(nil), program)
		if _, err := b.Build(t.Context(), []*Job{job}); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	if puts.Load() != 1 {
		t.Errorf("%d manifests were pushed, want 1", puts.Load())
	}
	b, said := sharedBuilder(t, &Shared{From: []string{ref}, NoCompile: true})
	if has, err := b.InRegistry(t.Context(), job); !has || err != nil {
		t.Errorf("it isn't there: %v", err)
	}
	for _, trust := range []bool{false, true} {
		b.Shared.Trust = trust
		if has, err := b.InRegistry(t.Context(), sharedJob(nil)); has != trust || err != nil {
			t.Errorf("without an output, trust %v: there %v, %v", trust, has, err)
		}
	}
	b.Shared.Trust = false
	artifacts, err := b.Build(t.Context(), []*Job{job})
	if err != nil || artifacts[0].Digest != job.Locked.Output.SHA256 || !artifacts[0].Cached {
		t.Fatalf("%v, %v\n%s", artifacts, err, said)
	}
	if err := b.read(t.Context(), artifacts[0].Digest); err != nil {
		t.Error(err)
	}
	b.Shared.From = []string{"127.0.0.1:1/nobody"} // what is local asks nobody
	if _, err := b.Build(t.Context(), []*Job{job}); err != nil || strings.Contains(said.String(), "nobody") {
		t.Errorf("%v\n%s", err, said)
	}
}

// What a registry has is taken only if it is what the lock says.
func TestSharedRefuses(t *testing.T) {
	quickRetries(t)
	good := sharedJob(nil)
	b, _ := sharedBuilder(t, nil)
	output := built(t, b, good, program)
	tag := tagOf(output.Action)
	artifact := func(content, action string) func(*testing.T, string) {
		return func(t *testing.T, ref string) {
			t.Helper()
			image, err := oci.NewArtifact(ArtifactType, map[string]string{actionKey: action, outputKey: cacheDigest(t, content), toolchainKey: "go1.26.8"}, strings.NewReader(content))
			push(t, ref+":"+tag, image, err)
		}
	}
	for name, c := range map[string]struct {
		in     func(t *testing.T, ref string)
		wrap   func(http.Handler) http.Handler
		output *pins.Output
		trust  bool
		says   string
	}{
		"other bytes":         {artifact("other bytes", output.Action), nil, output, false, "it has other bytes for tool, sha256:"},
		"another action":      {artifact(program, "sha256:other"), nil, output, false, "was made by another action, sha256:other"},
		"no output recorded":  {artifact(program, output.Action), nil, nil, false, "versions.lock has no output of it"},
		"trusted, no program": {artifact(program, output.Action), nil, nil, true, "not a Windows executable"},
		"output of another":   {artifact(program, output.Action), nil, &pins.Output{Action: "sha256:other", SHA256: output.SHA256}, false, "versions.lock has no output of it"},
		"an image":            {func(t *testing.T, ref string) { t.Helper(); push(t, ref+":"+tag, empty.Image, nil) }, nil, output, false, "isn't an artifact of bake"},
		"an index":            {func(t *testing.T, ref string) { t.Helper(); push(t, ref+":"+tag, empty.Index, nil) }, nil, output, false, "isn't an artifact of bake"},
		"nothing":             {func(*testing.T, string) {}, nil, output, false, ""},
		"half a push":         {artifact(program, output.Action), onGet("/blobs/", func(w http.ResponseWriter) { http.NotFound(w, nil) }), output, false, "can't be read"},
		"cut off": {artifact(program, output.Action), onGet("/blobs/", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("a part"))
		}), output, false, "can't be read"},
		"broken":      {artifact(program, output.Action), onGet("/", func(w http.ResponseWriter) { http.Error(w, "broken", http.StatusInternalServerError) }), output, false, "can't be read, and isn't asked again"},
		"throttled":   {artifact(program, output.Action), onGet("/manifests/", func(w http.ResponseWriter) { http.Error(w, "later", http.StatusTooManyRequests) }), output, false, "can't be read, and isn't asked again"},
		"no manifest": {artifact(program, output.Action), onGet("/manifests/", func(w http.ResponseWriter) { _, _ = w.Write([]byte("[")) }), output, false, "isn't"},
	} {
		t.Run(name, func(t *testing.T) {
			var broken atomic.Bool
			ref := serveRegistry(t, func(next http.Handler) http.Handler {
				if c.wrap == nil {
					return next
				}
				bad := c.wrap(next)
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if broken.Load() {
						bad.ServeHTTP(w, r)
					} else {
						next.ServeHTTP(w, r)
					}
				})
			})
			c.in(t, ref)
			broken.Store(true)
			b, said := sharedBuilder(t, &Shared{From: []string{ref}, Trust: c.trust, NoCompile: true})
			artifacts, err := b.Build(t.Context(), []*Job{sharedJob(c.output)})
			if err == nil || artifacts != nil || !strings.Contains(err.Error(), "no registry gave tool") {
				t.Errorf("taken: %v %v", artifacts, err)
			}
			if !strings.Contains(said.String(), c.says) {
				t.Errorf("no %q in\n%s", c.says, said)
			}
		})
	}
}

// A registry that takes nothing costs a warning, once.
func TestSharedCannotWrite(t *testing.T) {
	quickRetries(t)
	ref := serveRegistry(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				http.Error(w, "read-only", http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	b, said := sharedBuilder(t, &Shared{To: ref})
	one, two := sharedJob(nil), sharedJob(nil)
	two.Component.Name, two.Locked.Sum = "other", "h1:y"
	for _, j := range []*Job{one, two} {
		built(t, b, j, program+j.Component.Name)
	}
	if _, err := b.Build(t.Context(), []*Job{one, two}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(said.String(), "can't be written to"); n != 1 {
		t.Errorf("told %d times\n%s", n, said)
	}
}

func onGet(part string, answer func(http.ResponseWriter)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, part) {
				answer(w)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func push(t *testing.T, ref string, x oci.ImageOrIndex, err error) {
	t.Helper()
	if err == nil {
		_, err = oci.Push(context.Background(), ref, x, oci.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func cacheDigest(t *testing.T, text string) string {
	t.Helper()
	h, _, err := v1.SHA256(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return h.String()
}
