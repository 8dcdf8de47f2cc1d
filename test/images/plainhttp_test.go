package images

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/winbake/winbake/internal/image/oci"
)

// A registry on a private network that doesn't answer over TLS sees no request
// unless plain http was asked for.
func TestPushStaysWithTLS(t *testing.T) {
	reg := newRegistry(t, nil)
	anywhere := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, reg.host)
	}}
	t.Cleanup(anywhere.CloseIdleConnections)
	for _, host := range []string{"10.11.12.13:5000", "192.168.1.1"} {
		reg.reset()
		o := oci.Options{Transport: anywhere, Keychain: authn.DefaultKeychain}
		_, err := oci.Push(t.Context(), host+"/team/payload", payloadImage(t, 1), o)
		wantFault(t, err, 1, "speaks plain http", "--plain-http")
		if n := reg.all(); n != 0 {
			t.Errorf("%s: %d requests in the clear", host, n)
		}
		o.Insecure = true
		if _, err := oci.Push(t.Context(), host+"/team/payload", payloadImage(t, 1), o); err != nil {
			t.Errorf("%s, as asked for: %v", host, err)
		}
	}
}

// Neither does one that an image is read from.
func TestReadStaysWithTLS(t *testing.T) {
	reg := newRegistry(t, nil)
	tr := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, reg.host)
	}}
	_, err := oci.Load(t.Context(), "10.11.12.13:5000/team/payload:1", oci.Options{Keychain: authn.DefaultKeychain, Transport: tr})
	wantFault(t, err, 1, "speaks plain http", "--plain-http")
	if n := reg.all(); n != 0 {
		t.Errorf("%d requests in the clear", n)
	}
}

// A registry that speaks no TLS is often only cut off or garbled over https;
// that plain http wasn't tried has to be told then.
func TestRefusedPlainHTTPIsTold(t *testing.T) {
	o := fast
	o.Transport = refusing{errors.New("tls: handshake failure")}
	const ref = "10.11.12.13:5000/team/payload"
	wantFault(t, load(t.Context(), ref, o), 1, "tls: handshake failure", "may speak plain http", "--plain-http")
	o.Transport = refusing{&tls.CertificateVerificationError{Err: errors.New("not trusted")}}
	if err := load(t.Context(), ref, o); err == nil || strings.Contains(err.Error(), "plain http") {
		t.Errorf("%v: a registry with a certificate speaks no plain http", err)
	}
	for _, cause := range []error{errors.New("tls: handshake failure"), io.EOF} {
		o := oci.Options{Transport: refusing{cause}}
		_, err := oci.Push(t.Context(), ref, payloadImage(t, 1), o)
		wantFault(t, err, 1, "can't be written to over https", cause.Error(), "may speak plain http", "--plain-http")
	}
}

type refusing struct{ err error }

func (f refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }
