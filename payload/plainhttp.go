package payload

import (
	"fmt"
	"net"
	"net/http"
)

// Secured is t for requests over TLS, and to this machine; insecure leaves t as
// it is. Others are refused: go-containerregistry falls back to plain http where
// a registry's name is of a private network (RFC 1918) and https fails, which
// whoever is on the way can bring about: credentials would go out in the clear
// then, unasked.
func Secured(t http.RoundTripper, insecure bool) http.RoundTripper {
	if insecure {
		return t
	}
	return httpsOnly{t}
}

type httpsOnly struct{ below http.RoundTripper }

func (h httpsOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == "https" || isLoopback(req.URL.Hostname()) {
		return h.below.RoundTrip(req)
	}
	if req.Body != nil {
		_ = req.Body.Close() // a transport has to, whatever it answers
	}
	return nil, fmt.Errorf("%s is to be talked to in plain http, which wasn't asked for", req.URL.Host)
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
