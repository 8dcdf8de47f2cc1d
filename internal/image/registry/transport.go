package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxErrorBody is go-containerregistry's own limit of what comes with an error's
	// status. It refuses a longer one, and the status is lost.
	maxErrorBody = 64 << 10
	// leastRate is how many bytes a second have to come or go for an exchange to
	// go on. A link of that speed takes a day for a payload.
	leastRate = 1 << 10
)

// RoundTrip is one exchange, over TLS or with this machine. It ends when the
// other side is silent or slow, be it with the answer's body.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := c.refuse(req); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a transport has to, whatever it answers
		}
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	x := &exchange{req: req, ctx: ctx, cancel: cancel, limit: c.options.Timeout}
	out := req.WithContext(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		body, err := c.bodyOf(req)
		if err != nil {
			return nil, &sourceError{err}
		}
		x.sent = &sentBody{ReadCloser: body, pace: newPace(x.limit, x.silent), sent: c.Sent}
		out.Body, out.GetBody = x.sent, nil
	}
	pace := newPace(x.limit, x.silent)
	if x.sent != nil {
		pace = x.sent.pace
	}
	pace.wait()
	resp, err := c.options.Transport.RoundTrip(out)
	pace.stop()
	if err != nil {
		err = x.failed(err)
		cancel(nil)
		return nil, err
	}
	if req.Method == http.MethodPut && resp.StatusCode == http.StatusCreated {
		c.stored.Add(1)
	}
	resp.Request = req
	resp.Body = &receivedBody{ReadCloser: resp.Body, exchange: x, pace: newPace(x.limit, x.slow)}
	if resp.StatusCode >= http.StatusBadRequest {
		c.noteRetryAfter(resp.Header.Get("Retry-After"))
		if resp.StatusCode == http.StatusUnauthorized && req.GetBody != nil {
			c.denied.Store(req, nil)
		}
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxErrorBody), resp.Body}
	}
	return resp, nil
}

// bodyOf is what is to be sent. A request that was answered 401
// go-containerregistry sends again, with another token and the body that is used up.
func (c *Client) bodyOf(req *http.Request) (io.ReadCloser, error) {
	if _, again := c.denied.LoadAndDelete(req); again {
		return req.GetBody()
	}
	return req.Body, nil
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

// isLoopback also knows the names below localhost, which are this machine's:
// https://www.rfc-editor.org/rfc/rfc6761#section-6.3
func isLoopback(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).IsLoopback()
}

// pingPath is asked for first: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#endpoints
const pingPath = "/v2/"

// noteRetryAfter keeps what the header of that name asks for: seconds, or a
// date. go-containerregistry's errors drop it.
func (c *Client) noteRetryAfter(s string) {
	if n, err := strconv.ParseInt(s, 10, 32); err == nil {
		c.until.Store(time.Now().Add(time.Duration(n) * time.Second).UnixNano())
	} else if t, err := http.ParseTime(s); err == nil {
		c.until.Store(t.UnixNano())
	}
}

type exchange struct {
	req    *http.Request
	ctx    context.Context // the answer's body outlives the call
	cancel context.CancelCauseFunc
	limit  time.Duration
	sent   *sentBody // nil for none
}

// silent ends an exchange of which nothing is taken, or that isn't answered.
func (x *exchange) silent() {
	silence := fmt.Sprintf("no answer within %s to", x.limit)
	if x.sent != nil && x.sent.err.Load() == nil {
		silence = fmt.Sprintf("less than %d bytes a second were taken of", leastRate)
	}
	x.cancel(x.failure(silence, nil))
}

// slow ends an exchange whose answer doesn't come.
func (x *exchange) slow() {
	x.cancel(x.failure(fmt.Sprintf("less than %d bytes a second came of the answer to", leastRate), nil))
}

func (x *exchange) failure(silence string, err error) *Failure {
	u := *x.req.URL
	u.RawQuery, u.User = "", nil
	return &Failure{Request: x.req.Method + " " + u.String(), Silence: silence, Err: err}
}

// failed sorts out whose failure err is: the caller's, who ended it, that of
// what was to be sent, or the connection's.
func (x *exchange) failed(err error) error {
	if x.req.Context().Err() != nil {
		return err
	}
	if f, ok := errors.AsType[*Failure](context.Cause(x.ctx)); ok {
		return f
	}
	if x.sent != nil {
		if own := x.sent.err.Load(); own != nil && !errors.Is(*own, io.EOF) {
			return &sourceError{*own}
		}
	}
	if tlsErr, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		// Without a Failure: what plain http failed with, where it is tried then, is the
		// one that is told.
		if string(tlsErr.RecordHeader[:]) == "HTTP/" {
			return http.ErrSchemeMismatch // as an http.Client says
		}
		return err
	}
	return x.failure("", err)
}

// sentBody is a request's body. Between two reads of it the other side takes
// what was read.
type sentBody struct {
	io.ReadCloser
	pace *pace
	sent func(int)
	last int
	err  atomic.Pointer[error]
}

func (b *sentBody) Read(p []byte) (int, error) {
	b.pace.moved(b.last)
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.err.Store(&err)
		b.pace.moved(int(b.pace.limit.Seconds()) * leastRate) // the whole limit again, for the answer
	}
	if b.last = n; b.sent != nil {
		b.sent(n)
	}
	b.pace.wait()
	return n, err
}

type receivedBody struct {
	io.ReadCloser
	exchange *exchange
	pace     *pace
}

func (b *receivedBody) Read(p []byte) (int, error) {
	b.pace.wait()
	n, err := b.ReadCloser.Read(p)
	b.pace.moved(n)
	if err != nil && err != io.EOF {
		err = b.exchange.failed(err)
	}
	return n, err
}

// Close ends a Read that waits, too.
func (b *receivedBody) Close() error {
	b.exchange.cancel(nil)
	return b.ReadCloser.Close()
}

// pace ends an exchange whose other side is silent, or slower than leastRate,
// for longer than a limit. Only time that is spent waiting for it counts: a
// layer that is read slowly here is no fault of the registry's.
type pace struct {
	limit time.Duration
	end   func()

	mu    sync.Mutex
	left  time.Duration // used up by waiting, filled up by bytes
	since time.Time     // of the wait; zero while there is none
	timer *time.Timer
	over  bool
}

func newPace(limit time.Duration, end func()) *pace {
	return &pace{limit: limit, end: end, left: limit}
}

func (p *pace) wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.since, p.timer = time.Now(), time.AfterFunc(p.left, p.end)
	}
}

// moved stops the clock: n bytes came or went.
func (p *pace) moved(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.since.IsZero() {
		p.timer.Stop()
		p.left -= time.Since(p.since)
	}
	p.since = time.Time{}
	p.left = min(p.left+time.Duration(n)*time.Second/leastRate, p.limit)
}

// stop ends the clock for good.
func (p *pace) stop() {
	p.moved(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
