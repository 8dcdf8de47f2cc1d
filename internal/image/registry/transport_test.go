package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/winbake/winbake/test/support/memnet"
)

func clientOf(t *testing.T, ref string, o Options) *Client {
	t.Helper()
	c, err := New(ref, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// get is what a reader does: the answer's head, then its body.
func get(t *testing.T, c *Client, url string, body io.Reader) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, url, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: c}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// dripping is a body of n bytes, 100 of them a second.
func dripping(w io.Writer, n int) {
	for ; n > 0; n -= 100 {
		time.Sleep(time.Second)
		if _, err := w.Write(make([]byte, min(n, 100))); err != nil {
			return
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

func TestSilence(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	tests := []struct {
		name   string
		handle http.HandlerFunc
		body   int // bytes to send
		want   string
	}{
		{"no answer", silent, 0, "no answer within 2m0s to PATCH https://example.com/v2/"},
		{"nothing is taken", silent, 8 << 20, "less than 1024 bytes a second were taken of PATCH https://example.com/v2/"},
		{"no answer to what was taken", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, 8 << 20, "no answer within 2m0s to"},
		{"half an answer", func(w http.ResponseWriter, r *http.Request) {
			dripping(w, 100)
			<-r.Context().Done()
		}, 0, "less than 1024 bytes a second came of the answer to PATCH https://example.com/v2/"},
		{"a slow answer", func(w http.ResponseWriter, _ *http.Request) { dripping(w, 1<<20) }, 0, "less than 1024 bytes a second came of"},
		{"a slow reader", func(_ http.ResponseWriter, r *http.Request) {
			for b := make([]byte, 100); ; time.Sleep(time.Second) {
				if _, err := io.ReadFull(r.Body, b); err != nil {
					return
				}
			}
		}, 8 << 20, "less than 1024 bytes a second were taken of"},
	}
	for how, serve := range map[string]func(testing.TB, http.Handler) *http.Transport{"h1": memnet.Plain, "h2": memnet.TLS} {
		for _, tt := range tests {
			t.Run(how+"/"+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := clientOf(t, "example.com/a", Options{Transport: serve(t, tt.handle), Insecure: true})
					scheme := map[string]string{"h1": "http", "h2": "https"}[how]
					err := get(t, c, scheme+"://example.com/v2/?token=secret", io.LimitReader(zeros{}, int64(tt.body)))
					f, ok := errors.AsType[*Failure](err)
					if want := strings.Replace(tt.want, "https", scheme, 1); !ok || f.Silence == "" || !strings.Contains(f.Error(), want) {
						t.Errorf("%v, want %q", err, want)
					}
					if ok && strings.Contains(f.Error(), "secret") {
						t.Errorf("%v shows the query", f)
					}
				})
			})
		}
	}
}

// What takes connections and never says a word is silent to TLS too, and is asked as
// often as any other silent registry.
func TestSilenceBeforeTLS(t *testing.T) {
	for _, insecure := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			silent := patient.Clone()
			silent.Proxy, silent.DialContext = nil, func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() { _, _ = io.Copy(io.Discard, theirs) }()
				return ours, nil
			}
			c, n := clientOf(t, "example.com/a/b:c", Options{Insecure: insecure, Transport: silent}), 0
			err := c.Do(t.Context(), func() error {
				n++
				_, err := remote.Head(c.Ref, c.Remote(t.Context())...)
				return err
			})
			if n != silentTries || !strings.Contains(c.Fault(t.Context(), err).Error(), "no answer within 2m0s to GET http") {
				t.Errorf("insecure %v: %d tries, %v", insecure, n, err)
			}
			time.Sleep(time.Hour) // net/http gives up too
		})
	}
}

// Where plain http was asked for, a registry that speaks it and then says nothing is
// silent: that it speaks no TLS is no news.
func TestSilenceInPlainHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		c, n := clientOf(t, "example.com/a/b:c", Options{Insecure: true, Transport: memnet.Plain(t, http.HandlerFunc(silent))}), 0
		err := c.Do(t.Context(), func() error {
			n++
			_, err := remote.Head(c.Ref, c.Remote(t.Context())...)
			return err
		})
		if n != silentTries || !strings.Contains(c.Fault(t.Context(), err).Error(), "no answer within 2m0s to GET http://") {
			t.Errorf("%d tries, %v", n, err)
		}
	})
}

// A proxy that doesn't lead to the registry is told apart from it, and asked once where
// that stays.
func TestProxyRefuses(t *testing.T) {
	before := Retries
	Retries.First = time.Millisecond
	t.Cleanup(func() { Retries = before })
	for status, tries := range map[int]int{http.StatusProxyAuthRequired: 1, http.StatusForbidden: 1, http.StatusBadGateway: Retries.Tries} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(s.Close)
		proxy, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		proxy.User = url.UserPassword("me", "secret")
		behind := patient.Clone()
		behind.Proxy = http.ProxyURL(proxy)
		c, n := clientOf(t, "example.com/a/b:c", Options{Transport: behind}), 0
		err = c.Do(t.Context(), func() error {
			n++
			_, err := remote.Head(c.Ref, c.Remote(t.Context())...)
			return err
		})
		text := c.Fault(t.Context(), err).Error()
		want := fmt.Sprintf("registry example.com can't be read: the proxy %s answers %d", proxy.Host, status)
		if n != tries || !strings.Contains(text, want) || !strings.Contains(text, "add example.com to NO_PROXY") || strings.Contains(text, "secret") {
			t.Errorf("%d tries, %s; want %s", n, text, want)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
