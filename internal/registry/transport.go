package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

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
	resp, err := c.exchange(req)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		c.noteRetryAfter(resp.Header.Get("Retry-After"))
	}
	return resp, err
}

func (c *Client) refuse(req *http.Request) error {
	if !c.options.Insecure && req.URL.Scheme != "https" && !isLoopback(req.URL.Hostname()) {
		return &httpRefused{req.URL.Host}
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

func (c *Client) exchange(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	x := &exchange{req: req, ctx: ctx, cancel: cancel}
	out := req.WithContext(ctx)
	p := newPace(c.options.Timeout, func() { x.cut(x.sent.silence(c.options.Timeout)) })
	if req.Body != nil && req.Body != http.NoBody {
		x.sent = &sentBody{ReadCloser: req.Body, pace: p}
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
type httpRefused struct{ host string }

func (e *httpRefused) Error() string {
	return e.host + " is to be talked to in plain http, which wasn't asked for"
}

// mayBePlain tells a registry that failed over https and would have been tried
// in plain http. One with a certificate doesn't speak that.
func mayBePlain(err error) bool {
	_, refused := errors.AsType[*httpRefused](err)
	_, secure := errors.AsType[*tls.CertificateVerificationError](err)
	return refused && !secure
}

// isLoopback also knows the names below localhost, which are this machine's:
// https://www.rfc-editor.org/rfc/rfc6761#section-6.3
func isLoopback(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).IsLoopback()
}
