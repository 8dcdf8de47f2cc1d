// Package memnet serves HTTP without a network. In a bubble of testing/synctest
// a server that is silent for minutes then costs none: the clock goes on when
// everybody waits.
package memnet

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Host is a name that the certificate of TLS is for. It isn't local to
// go-containerregistry, which treats local ones with less care.
const Host = "example.com"

// TLS serves h over HTTP/2 and returns what reaches it, whatever the address.
func TLS(t testing.TB, h http.Handler) *http.Transport {
	t.Helper()
	return serve(t, h, func(s *httptest.Server) {
		s.EnableHTTP2 = true
		// A pipe has no buffer: tickets would wait for a client that writes first.
		s.TLS = &tls.Config{SessionTicketsDisabled: true, MinVersion: tls.VersionTLS12}
		s.StartTLS()
	})
}

// Plain serves h over plain HTTP/1.1 and returns what reaches it, whatever the
// address.
func Plain(t testing.TB, h http.Handler) *http.Transport {
	t.Helper()
	return serve(t, h, (*httptest.Server).Start)
}

func serve(t testing.TB, h http.Handler, start func(*httptest.Server)) *http.Transport {
	t.Helper()
	l := &listener{conns: make(chan net.Conn), done: make(chan struct{})}
	// Those of HTTP/2 outlive the server.
	var handlers sync.WaitGroup
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: until(t.Context(), &handlers, h), ErrorLog: log.New(io.Discard, "", 0)}} //nolint:gosec // no peer to defend against
	start(s)
	tr, ok := s.Client().Transport.(*http.Transport)
	if !ok {
		t.Fatalf("a transport of %T", s.Client().Transport)
	}
	tr.DialContext = l.dial
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		s.CloseClientConnections()
		s.Close()
		handlers.Wait()
	})
	return tr
}

// until ends the context of requests with the test. A server doesn't see that
// its client is gone as long as a body is to be read.
func until(test context.Context, running *sync.WaitGroup, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(test, cancel)()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

type listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
