package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Failure is an exchange that brought no answer, or no whole one.
type Failure struct {
	// Request is its method and URL, without the query: that may hold secrets.
	Request string
	// Silence is what was waited for in vain; "" where the connection failed.
	Silence string
	Err     error
}

func (f *Failure) Error() string {
	if f.Silence != "" {
		return f.Silence + " " + f.Request
	}
	return f.Err.Error()
}

func (f *Failure) Unwrap() error { return f.Err }

// sourceError is what kept a body from being sent: nothing that a registry did.
type sourceError struct{ error }

func (e *sourceError) Unwrap() error { return e.error }

type exchange struct {
	req    *http.Request
	ctx    context.Context // the answer's body outlives the call
	cancel context.CancelCauseFunc
	sent   *sentBody // nil for none
}

// cut ends the exchange for the other side's silence.
func (x *exchange) cut(silence string) { x.cancel(x.failure(silence, nil)) }

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
	if f, ok := context.Cause(x.ctx).(*Failure); ok { //nolint:errorlint // it is cut's own
		return f
	}
	if own := x.sent.failed(); own != nil {
		return &sourceError{own}
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
	last int
	err  atomic.Pointer[error]
}

func (b *sentBody) Read(p []byte) (int, error) {
	b.pace.moved(b.last)
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.err.Store(&err)
		b.pace.refill() // for the answer
	}
	b.last = n
	b.pace.wait()
	return n, err
}

// failed is why the body couldn't be read, nil if it could.
func (b *sentBody) failed() error {
	if b == nil {
		return nil
	}
	if err := b.err.Load(); err != nil && !errors.Is(*err, io.EOF) {
		return *err
	}
	return nil
}

func (b *sentBody) silence(limit time.Duration) string {
	if b != nil && b.err.Load() == nil {
		return fmt.Sprintf("less than %d bytes a second were taken of", leastRate)
	}
	return fmt.Sprintf("no answer within %s to", limit)
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

// leastRate is how many bytes a second have to come or go for an exchange to
// go on. A link of that speed takes a day for a payload.
const leastRate = 1 << 10

// pace ends an exchange whose other side is silent, or slower than leastRate,
// for longer than a limit. Only time that is spent waiting for it counts: a
// layer that is read slowly here is no fault of the registry's.
type pace struct {
	limit time.Duration
	end   func()

	mu    sync.Mutex
	left  time.Duration // used up by waiting, filled up by bytes
	since time.Time     // of the wait
	timer *time.Timer   // of the wait; nil while there is none
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
	if p.timer == nil {
		return
	}
	p.timer.Stop()
	p.timer = nil
	p.left = min(p.left-time.Since(p.since)+time.Duration(n)*time.Second/leastRate, p.limit)
}

// refill gives the other side the whole limit again.
func (p *pace) refill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = p.limit
}

// stop ends the clock for good.
func (p *pace) stop() {
	p.moved(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
