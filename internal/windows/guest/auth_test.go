package guest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/winbake/winbake/internal/base/fault"
)

func newKey(t *testing.T) (ed25519.PrivateKey, ssh.Signer) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return private, s
}

// writeKey writes a private key, with a passphrase unless that is "".
func writeKey(t *testing.T, path string, key ed25519.PrivateKey, passphrase string) {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// serveSSH lets one key in, and writes the server's own into the file that it
// returns.
func serveSSH(t *testing.T, allowed ssh.PublicKey) (Target, string) {
	t.Helper()
	_, host := newKey(t)
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if bytes.Equal(key.Marshal(), allowed.Marshal()) {
			return nil, nil
		}
		return nil, errors.New("another key")
	}}
	config.AddHostKey(host)
	addr := serve(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		if c, channels, requests, err := ssh.NewServerConn(conn, config); err == nil {
			go ssh.DiscardRequests(requests)
			go neverEnd(channels)
			_ = c.Wait()
		}
	})
	known := filepath.Join(t.TempDir(), "known_hosts")
	line := knownhosts.Line([]string{addr}, host.PublicKey()) + "\n"
	if err := os.WriteFile(known, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	target, err := ParseTarget("Administrator@" + addr)
	if err != nil {
		t.Fatal(err)
	}
	return target, known
}

// neverEnd takes commands, runs none, and answers no end of a session either.
func neverEnd(channels <-chan ssh.NewChannel) {
	for c := range channels {
		if _, requests, err := c.Accept(); err == nil {
			go func() {
				for r := range requests {
					_ = r.Reply(true, nil)
				}
			}()
		}
	}
}

// serveAgent is an ssh-agent that holds these keys.
func serveAgent(t *testing.T, keys ...ed25519.PrivateKey) string {
	t.Helper()
	ring := agent.NewKeyring()
	for _, k := range keys {
		if err := ring.Add(agent.AddedKey{PrivateKey: k}); err != nil {
			t.Fatal(err)
		}
	}
	return serve(t, "unix", filepath.Join(t.TempDir(), "agent"), func(conn net.Conn) {
		_ = agent.ServeAgent(ring, conn)
		_ = conn.Close()
	})
}

// serve handles each connection to an address, and returns that.
func serve(t *testing.T, network, address string, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go handle(conn)
		}
	}()
	return l.Addr().String()
}

func TestLogins(t *testing.T) {
	right, signer := newKey(t)
	wrong, _ := newKey(t)
	target, known := serveSSH(t, signer.PublicKey())
	for name, c := range map[string]struct {
		agent []ed25519.PrivateKey // nil for no agent
		file  ed25519.PrivateKey   // in ~/.ssh
		lock  string
		named ed25519.PrivateKey // --identity
		want  string             // "" for a login
	}{
		"the agent's":                    {agent: []ed25519.PrivateKey{wrong, right}},
		"a file's":                       {file: right},
		"a file's, with another's agent": {agent: []ed25519.PrivateKey{wrong}, file: right},
		"a file's, with an empty agent":  {agent: []ed25519.PrivateKey{}, file: right},
		"a named one's":                  {file: wrong, named: right},
		"none":                           {want: "there is no key to log in with"},
		"another's":                      {file: wrong, want: "refuses the login"},
		"locked, and the agent has it":   {agent: []ed25519.PrivateKey{right}, file: right, lock: "x"},
		"locked":                         {file: right, lock: "x", want: "has a passphrase (ssh-add"},
		"named, while the agent has it":  {agent: []ed25519.PrivateKey{right}, named: wrong, want: "refuses the login"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("SSH_AUTH_SOCK", "")
			if c.agent != nil {
				t.Setenv("SSH_AUTH_SOCK", serveAgent(t, c.agent...))
			}
			if c.file != nil {
				writeKey(t, filepath.Join(home, ".ssh", "id_ed25519"), c.file, c.lock)
			}
			o := Options{KnownHosts: []string{known}}
			if c.named != nil {
				o.Identities = []string{filepath.Join(home, "named")}
				writeKey(t, o.Identities[0], c.named, "")
			}
			s, err := Dial(t.Context(), target, o)
			if err == nil {
				_ = s.Close()
			}
			f, _ := errors.AsType[*fault.Error](err)
			if c.want == "" && err != nil || c.want != "" && (f == nil || !strings.Contains(f.What, c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A key that everybody can read, such as one out of a mounted Secret, is used
// and warned of.
func TestKeyThatOthersCanRead(t *testing.T) {
	key, signer := newKey(t)
	target, known := serveSSH(t, signer.PublicKey())
	file := filepath.Join(t.TempDir(), "key")
	writeKey(t, file, key, "")
	for mode, want := range map[os.FileMode]string{0o600: "", 0o640: "", 0o644: "(mode 0644): chmod 600 " + file, 0o604: "(mode 0604)"} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		var warned string
		s, err := Dial(t.Context(), target, Options{KnownHosts: []string{known}, Identities: []string{file}, Warn: func(name, what string) { warned += name + " " + what }})
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		if !strings.Contains(warned, want) || (warned == "") != (want == "") {
			t.Errorf("mode %o: warned %q, want %q", mode, warned, want)
		}
	}
}

func TestAgentThatIsGone(t *testing.T) {
	_, signer := newKey(t)
	target, known := serveSSH(t, signer.PublicKey())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(t.TempDir(), "none"))
	_, err := Dial(t.Context(), target, Options{KnownHosts: []string{known}})
	if err == nil || !strings.Contains(err.Error(), "doesn't answer") {
		t.Errorf("%v", err)
	}
}
