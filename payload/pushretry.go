package payload

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/fault"
)

// backoff is how long and how often to wait.
type backoff struct {
	first, most time.Duration
	tries       int // attempts, the first one too
}

// 1, 2, 4, 8 and 16 s between six attempts.
var defaultBackoff = backoff{first: time.Second, most: time.Minute, tries: 6}

// retry does work until it succeeds, fails for good, or has failed too often.
func (p *pusher) retry(ctx context.Context, work func(context.Context) error) error {
	b := p.options.backoff
	pause := b.first
	for try := 1; ; try++ {
		err := work(ctx)
		if err == nil || ctx.Err() != nil || try == b.tries || !mayPass(err) {
			return err
		}
		if p.options.Retrying != nil {
			p.options.Retrying(pushFault(ctx, p.ref, err))
		}
		// A tenth at random, so that a build farm doesn't come back all at once.
		wait := max(pause+rand.N(pause/10+1), min(p.wire.retryAfter(), b.most))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		pause = min(2*pause, b.most)
	}
}

// mayPass tells failures of the moment from those that stay. A broken
// connection has too many forms to list, so what is known to stay is listed.
func mayPass(err error) bool {
	if te, ok := errors.AsType[*transport.Error](err); ok {
		return te.StatusCode == http.StatusRequestTimeout || te.StatusCode == http.StatusTooManyRequests ||
			te.StatusCode >= http.StatusInternalServerError && te.StatusCode != http.StatusNotImplemented || te.Temporary()
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return false
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.IsTemporary || dns.IsTimeout
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	return !plain && !strings.Contains(err.Error(), plainHTTP) && isNetwork(err)
}

// plainHTTP is net/http's own text; there is no type for it.
const plainHTTP = "server gave HTTP response to HTTPS client"

// pushFault is registryFault in the words of a push.
func pushFault(ctx context.Context, ref name.Reference, err error) error {
	out := registryFault(ctx, ref, err)
	f, ok := errors.AsType[*fault.Error](out)
	if !ok {
		return out
	}
	c := *f
	registry, repo := ref.Context().RegistryStr(), ref.Context().RepositoryStr()
	te, ok := errors.AsType[*transport.Error](err)
	if !ok {
		c.What, c.Fix = pushConnectionFault(registry, err, c)
		return &c
	}
	switch te.StatusCode {
	case http.StatusUnauthorized:
		c.Fix = "podman login " + registry + ", with an account that may push to " + repo
	case http.StatusForbidden:
		c.Fix = "let the account push to " + repo + ", or log in with another one: podman login " + registry
	case http.StatusNotFound:
		c.Fix = "create the repository " + repo + " in " + registry + ", or check its name"
	case http.StatusTooManyRequests:
		c.Fix = "run it again later; what was uploaded is skipped then"
	case http.StatusRequestEntityTooLarge:
		c.Fix = "raise the limit for uploads in " + registry + ", or of the proxy before it"
	}
	return &c
}

func pushConnectionFault(registry string, err error, f fault.Error) (what, fix string) {
	if isCut(err) && !mayBePlain(err) {
		return "registry " + registry + " cut the connection", "run it again; what was uploaded is skipped then"
	}
	if ce, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "registry " + registry + " has a certificate that isn't trusted: " + ce.Err.Error(),
			"add its authority to the system's, or name it: SSL_CERT_FILE=ca.pem"
	}
	return strings.Replace(f.What, "can't be read", "can't be written to", 1), f.Fix
}
