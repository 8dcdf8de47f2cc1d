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
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/stream"
)

// DefaultTimeout is the default of Options.Timeout. Registries that keep blobs
// in an object store take their time for the end of a large upload.
const DefaultTimeout = 2 * time.Minute

// Options say how an image in a registry is reached, and which. The zero value
// reads public images over https.
type Options struct {
	// Platform picks one image out of an index; nil takes all Linux images.
	Platform *v1.Platform
	// Keychain gives credentials; nil means anonymous.
	Keychain authn.Keychain
	// Insecure talks plain http to the registry. It doesn't make https accept any
	// certificate. Without it, plain http is spoken to this machine alone.
	Insecure bool
	// UserAgent is sent to registries.
	UserAgent string
	// Timeout is how long a registry may be silent, or send or take less than 1 KiB a
	// second; 0 means DefaultTimeout. Then it is asked once more.
	Timeout time.Duration
	// Retrying is told of each failure that is tried again. May be nil.
	Retrying func(err error)
	// Jobs is how many blobs a push uploads at once; 0 means 4.
	Jobs int
	// Progress counts the bytes of all blobs of a push, those too that were there
	// already. May be nil.
	Progress stream.Progress

	Transport http.RoundTripper // of tests; nil means go-containerregistry's
}

// Client reaches one registry for one reference.
type Client struct {
	Ref name.Reference
	// Push tells that images are written, for what is told.
	Push bool
	// Sent is told how many bytes of bodies go out. May be nil.
	Sent func(n int)

	options Options
	stored  atomic.Int64 // blobs and manifests that the registry took
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
