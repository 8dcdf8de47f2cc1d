package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/base/fault"
)

// Backoff is how often to try and how long to pause.
type Backoff struct {
	First time.Duration // doubled with each try
	Most  time.Duration // of what a registry asks for
	Tries int           // attempts, the first one too
}

// Retries pauses 1, 2, 4, 8 and 16 s between six attempts. Tests shorten it.
var Retries = Backoff{First: time.Second, Most: time.Minute, Tries: 6}

// silentTries is how often a registry may be silent: each time takes the whole
// of Options.Timeout.
const silentTries = 2

// Do does work until it succeeds, fails for good, or has failed too often. It
// returns work's last error as it is; Fault is for people.
func (c *Client) Do(ctx context.Context, work func() error) error {
	a := c.Attempts()
	for {
		err := work()
		if err == nil {
			return nil
		}
		if err = a.Failed(ctx, err); err != nil {
			return err
		}
	}
}

// Attempts counts the tries of one piece of work.
type Attempts struct {
	N      int // the tries that failed since something was stored
	client *Client
	silent int
	stored int64
}

// Attempts starts to count.
func (c *Client) Attempts() *Attempts { return &Attempts{client: c} }

// Failed waits until the work is to be tried again, or returns why it isn't.
func (a *Attempts) Failed(ctx context.Context, err error) error {
	if stored := a.client.stored.Load(); stored != a.stored { // a push goes on
		a.N, a.silent, a.stored = 0, 0, stored
	}
	a.N++
	if ctx.Err() != nil || !mayPass(err) {
		return err
	}
	if f, ok := errors.AsType[*Failure](err); ok && f.Silence != "" {
		a.silent++
	}
	c := a.client
	asked := time.Until(time.Unix(0, c.until.Load()))
	if asked > Retries.Most {
		f, ok := errors.AsType[*fault.Error](c.Fault(ctx, err))
		if !ok {
			return err
		}
		f.What += ", and wants no request for " + asked.Round(time.Second).String()
		f.Fix = "run it again after that" + c.keeps()
		return f
	}
	if a.N >= Retries.Tries || a.silent >= silentTries {
		return err
	}
	if c.options.Retrying != nil {
		c.options.Retrying(c.Fault(ctx, err))
	}
	pause := Retries.First << (a.N - 1)
	// A tenth at random, so that a build farm doesn't come back all at once.
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(max(pause+rand.N(pause/10+1), asked)):
	}
	if t, ok := c.options.Transport.(interface{ CloseIdleConnections() }); ok && a.silent > 0 {
		t.CloseIdleConnections() // over HTTP/2 the silent one would be used again
	}
	return nil
}

// mayPass tells failures of the moment from those that stay.
func mayPass(err error) bool {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return false
	}
	if te, ok := errors.AsType[*transport.Error](err); ok {
		return te.StatusCode == http.StatusRequestTimeout || te.StatusCode == http.StatusTooManyRequests ||
			te.StatusCode >= http.StatusInternalServerError && te.StatusCode != http.StatusNotImplemented ||
			te.Temporary() || hasCode(te, transport.BlobUploadUnknownErrorCode)
	}
	f, ok := errors.AsType[*Failure](err)
	if !ok || f.Silence != "" {
		return ok
	}
	err = f.Err // of two attempts, over https and in plain http, the one that spoke
	if proxy, ok := errors.AsType[*proxyRefused](err); ok {
		return proxy.status >= http.StatusInternalServerError
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.IsTemporary || dns.IsTimeout
	}
	_, cert := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	return !cert && !plain && !errors.Is(err, http.ErrSchemeMismatch)
}

// hasCode tells a registry's answer by its code:
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#error-codes
func hasCode(te *transport.Error, code transport.ErrorCode) bool {
	return slices.ContainsFunc(te.Errors, func(d transport.Diagnostic) bool { return d.Code == code })
}
