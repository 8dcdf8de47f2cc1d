package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/base/fault"
)

// answers is a transport that gives them in turn, and the last for ever.
type answers []func() (*http.Response, error)

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	next := (*a)[0]
	if len(*a) > 1 {
		*a = (*a)[1:]
	}
	return next()
}

func status(code int, header ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: code, Header: h, Body: http.NoBody}, nil
	}
}

func broken(err error) func() (*http.Response, error) {
	return func() (*http.Response, error) { return nil, err }
}

// attempt is one exchange, whose bad answers are errors.
func attempt(ctx context.Context, c *Client) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/v2/", nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: c}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return transport.CheckError(resp, http.StatusOK)
}

func TestDo(t *testing.T) {
	reset := broken(&net.OpError{Op: "read", Err: errors.New("connection reset by peer")})
	tests := []struct {
		name    string
		answers answers
		tries   int
		pauses  time.Duration // at least, and a tenth more at most
		want    string        // in the fault; "" for none
	}{
		{"fine", answers{status(200)}, 1, 0, ""},
		{"500 five times", answers{status(500), status(502), status(503), status(504), status(408), status(200)}, 6, 31 * time.Second, ""},
		{"500 for good", answers{status(500)}, 6, 31 * time.Second, "answered 500"},
		{"a reset", answers{reset, status(200)}, 2, time.Second, ""},
		{"resets", answers{reset}, 6, 31 * time.Second, "connection reset by peer"},
		{"401", answers{status(401)}, 1, 0, "podman login example.com, with an account that may pull team/p"},
		{"501", answers{status(501)}, 1, 0, "answered 501"},
		{"asked to wait", answers{status(429, "Retry-After", "30"), status(200)}, 2, 30 * time.Second, ""},
		{"asked to wait less", answers{status(429), status(503, "Retry-After", "1"), status(200)}, 3, 3 * time.Second, ""},
		{"asked to wait until", answers{status(503, "Retry-After", "Sat, 01 Jan 2000 00:00:30 GMT"), status(200)}, 2, 30 * time.Second, ""},
		{"asked for a minute", answers{status(429, "Retry-After", "60"), status(200)}, 2, time.Minute, ""},
		{"asked for too much", answers{status(429, "Retry-After", "61"), status(200)}, 1, 0, "wants no request for 1m1s"},
		{"asked in words", answers{status(429, "Retry-After", "soon"), status(200)}, 2, time.Second, ""},
		{"no such host", answers{broken(&net.DNSError{Err: "no such host", Name: "example.com", IsNotFound: true})}, 1, 0, "no such host"},
		{"a lame server", answers{broken(&net.DNSError{Err: "try again", Name: "example.com", IsTemporary: true}), status(200)}, 2, time.Second, ""},
		{"a certificate", answers{broken(&tls.CertificateVerificationError{Err: errors.New("unknown authority")})}, 1, 0, "certificate that isn't trusted"},
		{"plain http", answers{broken(tls.RecordHeaderError{Msg: "first record", RecordHeader: [5]byte([]byte("HTTP/"))})}, 1, 0, "speaks plain http"},
		{"no TLS", answers{broken(tls.RecordHeaderError{Msg: "first record does not look like TLS"})}, 1, 0, "first record"},
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told, tries := 0, 0
				c := clientOf(t, "example.com/team/p:x", Options{Transport: &tt.answers, Retrying: func(err error) {
					told++
					if _, ok := errors.AsType[*fault.Error](err); !ok {
						t.Errorf("%v is told", err)
					}
				}})
				began := time.Now()
				err := c.Do(t.Context(), func() error {
					tries++
					return attempt(t.Context(), c)
				})
				if took := time.Since(began); took < tt.pauses || took > tt.pauses+tt.pauses/10 {
					t.Errorf("paused %s, want %s", took, tt.pauses)
				}
				if tries != tt.tries || told != tries-1 {
					t.Errorf("tried %d times, told of %d, want %d", tries, told, tt.tries)
				}
				wantFault(t, c, err, tt.want)
			})
		})
	}
}

// wantFault checks what a person reads of err.
func wantFault(t *testing.T, c *Client, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Error(err)
		}
		return
	}
	if err = c.Fault(context.Background(), err); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "fix: ") {
		t.Errorf("%v, want %q", err, want)
	}
}

// Neither a pause nor a silence outlives an interrupt.
func TestDoEndsWithItsContext(t *testing.T) {
	for name, give := range map[string]func() (*http.Response, error){"a pause": status(503, "Retry-After", "50"), "a status": status(500)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				c := clientOf(t, "example.com/p", Options{Transport: &answers{give}})
				began := time.Now()
				if err := c.Fault(ctx, c.Do(ctx, func() error { return attempt(ctx, c) })); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				if took := time.Since(began); took != 500*time.Millisecond {
					t.Errorf("ended after %s", took)
				}
			})
		})
	}
}

// What can't be read here is no fault of the registry's.
func TestOwnFaultsAreOurs(t *testing.T) {
	own := errors.New("the disk is damaged")
	c := clientOf(t, "example.com/p", Options{Transport: reading{}})
	tries := 0
	err := c.Do(t.Context(), func() error {
		tries++
		err := get(t, c, "https://example.com/v2/", io.MultiReader(strings.NewReader("half"), failing{own}))
		return err
	})
	if err = c.Fault(t.Context(), err); err != own || tries != 1 { //nolint:errorlint // itself
		t.Errorf("%v after %d tries", err, tries)
	}
}

// reading is a transport that reads the request's body, and fails as net/http does.
type reading struct{}

func (reading) RoundTrip(req *http.Request) (*http.Response, error) {
	_, err := io.ReadAll(req.Body)
	return nil, errors.Join(errors.New("net/http: HTTP/1.x transport connection broken"), err)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
