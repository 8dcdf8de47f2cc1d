package winenode

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// serverVersion is how the SSH server of Windows Server 2022 names itself.
const serverVersion = "SSH-2.0-OpenSSH_for_Windows_8.1"

// server is a node's SSH server.
type server struct {
	n        *Node
	config   *ssh.ServerConfig
	listener net.Listener
	ctx      context.Context // of every program that a client starts
	cancel   context.CancelFunc
	serving  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// listen starts the SSH server on a free port, with keys of its own, and fills
// in what a client needs to know.
func (n *Node) listen(dir string) (*server, error) {
	s := &server{n: n, conns: map[net.Conn]bool{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	hostKey, err := newKey(filepath.Join(dir, "host_key"))
	if err != nil {
		return nil, err
	}
	n.KeyFile = filepath.Join(dir, "id_ed25519")
	userKey, err := newKey(n.KeyFile)
	if err != nil {
		return nil, err
	}
	s.config = n.serverConfig(hostKey, userKey.PublicKey())
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	n.Addr = s.listener.Addr().String()
	n.HostKey = strings.TrimSpace(string(ssh.MarshalAuthorizedKey(hostKey.PublicKey())))
	n.KnownHosts = filepath.Join(dir, "known_hosts")
	line := knownhosts.Line([]string{knownhosts.Normalize(n.Addr)}, hostKey.PublicKey()) + "\n"
	if err := os.WriteFile(n.KnownHosts, []byte(line), 0o600); err != nil {
		return nil, err
	}
	s.serving.Go(s.accept)
	return s, nil
}

// newKey makes a key pair and writes the private half, in OpenSSH's form.
func newKey(file string) (ssh.Signer, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(private, "winenode")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		return nil, err
	}
	return ssh.NewSignerFromKey(private)
}

func (n *Node) serverConfig(host ssh.Signer, user ssh.PublicKey) *ssh.ServerConfig {
	errDenied := errors.New("permission denied")
	c := &ssh.ServerConfig{
		ServerVersion: serverVersion,
		PublicKeyCallback: func(m ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if !strings.EqualFold(m.User(), n.User) || string(key.Marshal()) != string(user.Marshal()) {
				return nil, errDenied
			}
			return nil, nil
		},
		PasswordCallback: func(m ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			if !strings.EqualFold(m.User(), n.User) || string(password) != n.Password {
				return nil, errDenied
			}
			return nil, nil
		},
	}
	c.AddHostKey(host)
	return c
}

func (s *server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		conn = s.n.line(conn)
		s.mu.Lock()
		s.conns[conn] = true
		s.mu.Unlock()
		s.serving.Go(func() {
			s.serve(conn)
			s.mu.Lock()
			delete(s.conns, conn)
			s.mu.Unlock()
		})
	}
}

// maxSessions is how many sessions sshd allows on a connection unless it is told
// otherwise: https://man.openbsd.org/sshd_config#MaxSessions.
const maxSessions = 10

func (s *server) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the client may have gone
	_, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return // the client went, or wasn't let in
	}
	go ssh.DiscardRequests(requests)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	var sessions sync.WaitGroup
	var open atomic.Int32
	for c := range channels {
		if c.ChannelType() != "session" {
			_ = c.Reject(ssh.UnknownChannelType, "sessions alone")
			continue
		}
		if open.Load() >= maxSessions {
			_ = c.Reject(ssh.ConnectionFailed, "open failed")
			continue
		}
		ch, requests, err := c.Accept()
		if err != nil {
			continue // the connection has gone
		}
		open.Add(1)
		sessions.Go(func() {
			defer open.Add(-1)
			s.n.session(ctx, ch, requests)
		})
	}
	cancel()
	sessions.Wait()
}

// close ends the server, its connections and the programs they started.
func (s *server) close() error {
	s.cancel()
	err := s.listener.Close()
	s.mu.Lock()
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
	return err
}
