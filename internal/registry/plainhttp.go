package registry

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
)

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
