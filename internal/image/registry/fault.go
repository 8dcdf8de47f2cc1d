package registry

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/base/fault"
)

// Fault says which registry did what, and what helps. Errors that aren't the
// registry's come back as they are.
func (c *Client) Fault(ctx context.Context, err error) error {
	if cerr := ctx.Err(); cerr != nil {
		return cerr
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if own, ok := errors.AsType[*sourceError](err); ok {
		return own.error
	}
	f := &fault.Error{Where: c.Ref.Name(), Err: err}
	// On this machine plain http is tried too: what an https server says to that is no news.
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	if te, ok := errors.AsType[*transport.Error](err); ok && !untrusted {
		f.What = fmt.Sprintf("registry %s answered %d %s%s", c.registry(), te.StatusCode, http.StatusText(te.StatusCode), diagnostics(te))
		f.Fix = c.statusFix(te)
	} else {
		f.What, f.Fix = c.connectionFault(err)
	}
	return f
}

func (c *Client) registry() string { return c.Ref.Context().RegistryStr() }

// keeps says what a push that failed is good for.
func (c *Client) keeps() string {
	if c.Push {
		return "; what was uploaded is skipped then"
	}
	return ""
}

func diagnostics(te *transport.Error) string {
	var all []string
	for _, d := range te.Errors {
		all = append(all, strings.Join(strings.Fields(string(d.Code)+" "+d.Message), " ")) // a line, and none that looks like ours
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}

func (c *Client) statusFix(te *transport.Error) string {
	registry, repo := c.registry(), c.Ref.Context().RepositoryStr()
	account := login(registry, "pull "+repo)
	if c.Push {
		account = login(registry, "push to "+repo)
	}
	switch status := te.StatusCode; {
	case c.Push && strings.Contains(strings.ToLower(diagnostics(te)), "immutab"):
		return "push with another tag, such as " + c.Ref.Context().Name() + ":NEWTAG: what this one names stays"
	case c.Push && status == http.StatusForbidden:
		return "let the account push to " + repo + ", or use another one: " + account
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return account
	case c.Push && status == http.StatusTooManyRequests:
		return "run it again later" + c.keeps()
	case status == http.StatusTooManyRequests:
		return "wait and run it again, or use an account: " + account
	case status >= http.StatusInternalServerError || hasCode(te, transport.BlobUploadUnknownErrorCode) ||
		hasCode(te, transport.ManifestBlobUnknownErrorCode) || hasCode(te, transport.DigestInvalidErrorCode):
		return "run it again" + c.keeps() + "; if it stays, tell those who run " + registry
	case c.Push && status == http.StatusNotFound:
		return "create the repository " + repo + " in " + registry + ", or check its name"
	case status == http.StatusNotFound:
		return "check the name; what is there: skopeo list-tags docker://" + c.Ref.Context().Name()
	case c.Push && status == http.StatusRequestEntityTooLarge:
		return "raise the limit for uploads in " + registry + ", or of the proxy before it"
	}
	return "check the name and the registry: " + c.curl()
}

func (c *Client) curl() string {
	scheme := "https"
	if c.options.Insecure {
		scheme = "http"
	}
	return "curl -I " + scheme + "://" + c.registry() + "/v2/"
}

// connectionFault says why there was no answer, or none that could be used.
func (c *Client) connectionFault(err error) (what, fix string) {
	registry, done, cause := "registry "+c.registry(), "read", err.Error()
	if c.Push {
		done = "written to"
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		cause = ue.Err.Error()
	}
	f, failed := errors.AsType[*Failure](err)
	if failed {
		cause = f.Error()
	}
	cause, _, _ = strings.Cut(cause, ":\n") // what a token service said follows
	cert, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	loop, looping := errors.AsType[*redirectLoop](err)
	plain, isPlain := errors.AsType[*httpRefused](err)
	proxy, proxied := errors.AsType[*proxyRefused](err)
	_, noJSON := errors.AsType[*json.SyntaxError](err)
	switch {
	case proxied:
		return registry + " can't be " + done + ": " + proxy.Error(),
			"let the proxy reach " + c.registry() + " (its login goes into HTTPS_PROXY), or add " + c.registry() + " to NO_PROXY"
	case failed && f.Silence != "":
		return registry + " can't be " + done + ": " + cause,
			"run it again" + c.keeps() + "; for a slow one allow more: --registry-timeout " + (5 * c.options.Timeout).String()
	case untrusted:
		return registry + " has a certificate that isn't trusted: " + cert.Err.Error(),
			"add its authority to the system's, or name it: SSL_CERT_FILE=ca.pem"
	case errors.Is(err, http.ErrSchemeMismatch) && !failed && !c.options.Insecure:
		return registry + " speaks plain http", "if that is meant, say --plain-http"
	case isPlain && !plain.led:
		return registry + " can't be " + done + " over https, and may speak plain http: " + cause,
			"if it does and that is meant, say --plain-http; else " + c.curl()
	case isPlain:
		return registry + " leads to plain http: http://" + plain.host,
			"tell those who run " + c.registry() + "; a proxy before it has to send X-Forwarded-Proto: https"
	case strings.HasPrefix(cause, "parsing config file ("): // before any request
		file, _, _ := strings.Cut(strings.TrimPrefix(cause, "parsing config file ("), ")")
		return file + ", which has the logins, can't be read: " + cause, "fix the file, or move it away and log in again"
	case noJSON:
		return registry + "'s token service gave an answer that isn't JSON: " + cause, "check the name, and what answers: " + c.curl()
	case looping:
		return registry + " redirects in circles: " + loop.Error(), "tell those who run " + c.registry()
	case failed && slices.ContainsFunc(cuts, func(e error) bool { return errors.Is(err, e) }):
		return registry + " cut the connection", "run it again" + c.keeps()
	}
	return registry + " can't be " + done + ": " + cause, "check the name and the network: " + c.curl()
}

// cuts are the errors of a connection that ended before its answer.
var cuts = []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE}

// login says how to get an account that may do what was refused. A pod has no
// login of its own: what its service account has is for the kubelet.
func login(registry, may string) string {
	if os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		return "podman login " + registry + ", with an account that may " + may
	}
	return "give this pod a login that may " + may + ": mount a Secret of type kubernetes.io/dockerconfigjson" +
		" and name its file, env REGISTRY_AUTH_FILE=/MOUNTPATH/.dockerconfigjson"
}
