// Package registry is how images get from and into registries: the one
// transport for both directions, with limits for silence, slowness and
// redirects, what is tried again and when, and what a person is told when it
// fails.
//
// It knows no payload and no layer: what is read or written is
// go-containerregistry's, by way of Remote and Do.
package registry

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
)

// DefaultTimeout is the default of Options.Timeout. Registries that keep blobs
// in an object store take their time for the end of a large upload.
const DefaultTimeout = 2 * time.Minute

// Options say how a registry is reached.
type Options struct {
	// Push tells that images are written.
	Push bool
	// Keychain gives credentials; nil stands for anonymous.
	Keychain authn.Keychain
	// Insecure talks plain http. Without it, plain http is spoken to this
	// machine alone.
	Insecure  bool
	UserAgent string
	// Timeout is how long a registry may be silent, or slower than leastRate;
	// 0 stands for DefaultTimeout.
	Timeout time.Duration
	// Retrying is told of each failure that is tried again. May be nil.
	Retrying func(err error)

	// Transport is for tests; nil stands for go-containerregistry's.
	Transport http.RoundTripper
}

// Client reaches one registry for one reference.
type Client struct {
	Ref     name.Reference
	options Options
	until   atomic.Int64 // Unix nanoseconds: the registry wants no request before
	denied  sync.Map     // the *http.Requests that were answered 401
}

// New returns a client for ref, REGISTRY/REPOSITORY with a tag or a digest.
func New(ref string, o Options) (*Client, error) {
	r, err := Parse(ref, o.Insecure)
	if err != nil {
		return nil, err
	}
	if o.Timeout < 0 {
		return nil, &fault.Error{What: "a registry can't be waited for " + o.Timeout.String(), Where: ref, Fix: "--registry-timeout " + DefaultTimeout.String()}
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	if o.Transport == nil {
		o.Transport = patient
	}
	return &Client{Ref: r, options: o}, nil
}

// patient is go-containerregistry's transport with more than its ten seconds for TLS:
// Options.Timeout is the limit for any silence. What that gave up, net/http goes on with
// in the background, until this limit. What a proxy refuses, net/http words as if the
// registry did.
var patient = func() *http.Transport {
	t := remote.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // as its docs say
	t.TLSHandshakeTimeout = 10 * time.Minute
	t.OnProxyConnectResponse = func(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		return &proxyRefused{proxy.Host, resp.StatusCode}
	}
	return t
}()

// proxyRefused is a proxy that leads to no registry.
type proxyRefused struct {
	host   string
	status int
}

func (e *proxyRefused) Error() string {
	return fmt.Sprintf("the proxy %s answers %d %s", e.host, e.status, http.StatusText(e.status))
}

// Parse reads a reference. One with credentials is refused, and the error
// doesn't show them: no client of registries reads such a one.
func Parse(ref string, insecure bool) (name.Reference, error) {
	if shown := printable.Reference(ref); shown != ref {
		_, rest, _ := strings.Cut(shown, "@")
		host, _, _ := strings.Cut(rest, "/")
		return nil, &fault.Error{
			What: "a reference can't hold credentials", Where: shown,
			Fix: "podman login " + host + ", and leave out what is before " + host,
		}
	}
	var o []name.Option
	if insecure {
		o = append(o, name.Insecure)
	}
	r, err := name.ParseReference(ref, o...)
	if err != nil {
		why, _, _ := strings.Cut(err.Error(), "; ") // the rest is for programmers: use name.Insecure
		return nil, &fault.Error{
			What: "not a registry reference: " + why, Where: cmp.Or(ref, "docker://"), Err: err,
			Fix: "write REGISTRY/REPOSITORY@sha256:... or REGISTRY/REPOSITORY:TAG",
		}
	}
	return r, nil
}

// Remote are the options for go-containerregistry's remote. It makes one
// attempt at all: what is tried again, Do decides. Its own pauses outlive ctx,
// don't know what the registry asked for, and nobody is told of them.
func (c *Client) Remote(ctx context.Context) []remote.Option {
	o := []remote.Option{
		remote.WithContext(ctx), remote.WithTransport(c), remote.WithUserAgent(c.options.UserAgent),
		remote.WithRetryBackoff(remote.Backoff{Steps: 1}),
	}
	if c.options.Keychain != nil {
		o = append(o, remote.WithAuthFromKeychain(c.options.Keychain))
	}
	return o
}

// maxRedirects is one below net/http's own limit, which go-containerregistry's
// CheckRedirect replaces by none
// (https://github.com/google/go-containerregistry/pull/2332).
const maxRedirects = 8

// RoundTrip is one exchange, over TLS or with this machine. It ends when the
// other side is silent or slow, be it with the answer's body.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := c.refuse(req); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a transport has to, whatever it answers
		}
		return nil, err
	}
	body, err := c.bodyOf(req)
	if err != nil {
		return nil, err
	}
	resp, err := c.exchange(req, body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		c.noteRetryAfter(resp.Header.Get("Retry-After"))
		if resp.StatusCode == http.StatusUnauthorized && req.GetBody != nil {
			c.denied.Store(req, nil)
		}
		// go-containerregistry refuses a longer one, and the status is lost.
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxErrorBody), resp.Body}
	}
	return resp, err
}

// maxErrorBody is go-containerregistry's own limit of what comes with an error's status.
const maxErrorBody = 64 << 10

// bodyOf is what is to be sent, nil for nothing. A request that was answered 401
// go-containerregistry sends again, with another token and the body that is used up.
func (c *Client) bodyOf(req *http.Request) (io.ReadCloser, error) {
	if req.Body == http.NoBody {
		return nil, nil //nolint:nilnil // there is none
	}
	if _, again := c.denied.LoadAndDelete(req); !again {
		return req.Body, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, &sourceError{err}
	}
	return body, nil
}

func (c *Client) refuse(req *http.Request) error {
	if !c.options.Insecure && req.URL.Scheme != "https" && !isLoopback(req.URL.Hostname()) {
		return &httpRefused{req.URL.Host, req.URL.Path != pingPath || req.Response != nil}
	}
	n := 0
	for r := req.Response; r != nil && r.Request != nil; r = r.Request.Response {
		if n++; n > maxRedirects {
			return &redirectLoop{req.URL.Host}
		}
	}
	return nil
}

// redirectLoop is a request that was redirected too often.
type redirectLoop struct{ last string }

func (e *redirectLoop) Error() string {
	return fmt.Sprintf("more than %d redirects, the last to %s", maxRedirects, e.last)
}

// noteRetryAfter keeps what the header of that name asks for: seconds, or a
// date. go-containerregistry's errors drop it.
func (c *Client) noteRetryAfter(s string) {
	if n, err := strconv.ParseInt(s, 10, 32); err == nil {
		c.until.Store(time.Now().Add(time.Duration(n) * time.Second).UnixNano())
	} else if t, err := http.ParseTime(s); err == nil {
		c.until.Store(t.UnixNano())
	}
}

func (c *Client) exchange(req *http.Request, body io.ReadCloser) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	x := &exchange{req: req, ctx: ctx, cancel: cancel}
	out := req.WithContext(ctx)
	p := newPace(c.options.Timeout, func() { x.cut(x.sent.silence(c.options.Timeout)) })
	if body != nil {
		x.sent = &sentBody{ReadCloser: body, pace: p}
		out.Body, out.GetBody = x.sent, nil
	}
	p.wait()
	resp, err := c.options.Transport.RoundTrip(out)
	p.stop()
	if err != nil {
		err = x.failed(err)
		cancel(nil)
		return nil, err
	}
	resp.Request = req
	resp.Body = &receivedBody{ReadCloser: resp.Body, exchange: x, pace: newPace(c.options.Timeout, func() {
		x.cut(fmt.Sprintf("less than %d bytes a second came of the answer to", leastRate))
	})}
	return resp, nil
}

// httpRefused is a request in plain http that wasn't sent. go-containerregistry
// falls back to plain http where a registry's name is of a private network (RFC
// 1918) and https fails, which anybody on the way can bring about: credentials
// would go out in the clear then, unasked.
type httpRefused struct {
	host string
	led  bool // by an answer of the registry's, not by a registry that fails over https
}

// pingPath is asked for first: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#endpoints
const pingPath = "/v2/"

func (e *httpRefused) Error() string {
	return e.host + " is to be talked to in plain http, which wasn't asked for"
}

// mayBePlain tells a registry that failed over https and would have been tried
// in plain http. One with a certificate doesn't speak that.
func mayBePlain(err error) bool {
	refused, ok := errors.AsType[*httpRefused](err)
	_, secure := errors.AsType[*tls.CertificateVerificationError](err)
	return ok && !refused.led && !secure
}

// isLoopback also knows the names below localhost, which are this machine's:
// https://www.rfc-editor.org/rfc/rfc6761#section-6.3
func isLoopback(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).IsLoopback()
}
