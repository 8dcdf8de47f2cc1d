package registry

import (
	"fmt"
	"net/http"
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

// proxyRefused is a proxy that leads to no registry.
type proxyRefused struct {
	host   string
	status int
}

func (e *proxyRefused) Error() string {
	return fmt.Sprintf("the proxy %s answers %d %s", e.host, e.status, http.StatusText(e.status))
}

// maxRedirects is one below net/http's own limit, which go-containerregistry's
// CheckRedirect replaces by none
// (https://github.com/google/go-containerregistry/pull/2332).
const maxRedirects = 8

// redirectLoop is a request that was redirected too often.
type redirectLoop struct{ last string }

func (e *redirectLoop) Error() string {
	return fmt.Sprintf("more than %d redirects, the last to %s", maxRedirects, e.last)
}

// httpRefused is a request in plain http that wasn't sent. go-containerregistry
// falls back to plain http where a registry's name is of a private network (RFC
// 1918) and https fails, which anybody on the way can bring about: credentials
// would go out in the clear then, unasked.
type httpRefused struct {
	host string
	led  bool // by an answer of the registry's, not by a registry that fails over https
}

func (e *httpRefused) Error() string {
	return e.host + " is to be talked to in plain http, which wasn't asked for"
}
