// Package apiserver starts a real Kubernetes API server for tests: a
// kube-apiserver built from the module proxy over Debian's etcd, with RBAC, on
// loopback. Between the client under test and the server nothing is mocked.
//
// There is no kubelet, scheduler or controller: an object stays as a test made
// it, its status too. The server has no admission plugin that would change
// nodes. It is for tests alone and no part of the product.
//
// The kube-apiserver, and a kubectl of the same sources, are built once for each
// version into the user's cache folder, which takes several minutes of processor
// time; `go run ./test/cluster/apiserver/prepare` does it ahead of the tests. A test that starts a
// server fails, and isn't skipped, where etcd is missing.
package apiserver

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// startTime bounds one start of etcd and kube-apiserver. On an idle machine it
// takes some five seconds.
const startTime = 15 * time.Minute

// Server is a running API server.
type Server struct {
	// Config is the administrator's: group system:masters, no client-side
	// limit of requests.
	Config *rest.Config
	// Kubeconfig is a file that says the same as Config. It is removed when
	// the server stops.
	Kubeconfig string

	dir       string
	etcd      *process
	apiserver *process
	stop      sync.Once
}

// Start starts a server and stops it when the test and its subtests end. args
// are further arguments of kube-apiserver, --etcd-compaction-interval=1s say.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := New(ctx, args...)
	if err != nil {
		t.Fatalf("start an API server: %v", err)
	}
	t.Cleanup(s.Stop)
	return s
}

// New starts a server that several tests share, from TestMain say; the caller
// calls Stop. ctx bounds the start and not the server's life.
func New(ctx context.Context, args ...string) (*Server, error) {
	binary, err := Build(ctx)
	if err != nil {
		return nil, err
	}
	// Not t.TempDir: its name can be longer than a Unix socket's may be.
	dir, err := os.MkdirTemp("", "winbake-api-")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	s := &Server{dir: dir}
	if err := s.start(ctx, binary, args); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, binary string, args []string) error {
	if err := s.startEtcd(); err != nil {
		return err
	}
	token := rand.Text()
	if err := s.writeSecrets(token); err != nil {
		return err
	}
	// The port is free when it is chosen and may be taken when it is used.
	var err error
	for range 3 {
		var taken bool
		if taken, err = s.startAPIServer(ctx, binary, token, args); !taken {
			break
		}
	}
	if err != nil {
		return err
	}
	s.Kubeconfig = filepath.Join(s.dir, "kubeconfig")
	return writeKubeconfig(s.Kubeconfig, "admin", s.Config)
}

// Stop ends the server and removes what it wrote. It may be called again.
func (s *Server) Stop() {
	s.stop.Do(func() {
		s.apiserver.kill()
		s.etcd.kill()
		if err := os.RemoveAll(s.dir); err != nil {
			fmt.Fprintln(os.Stderr, "apiserver:", err)
		}
	})
}

// Pause makes the server answer nothing until Resume: connections stay open
// and requests wait, as with a server that is overloaded.
func (s *Server) Pause() { s.apiserver.pause() }

// Resume undoes Pause.
func (s *Server) Resume() { s.apiserver.resume() }
