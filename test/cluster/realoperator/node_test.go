//go:build operator

package realoperator

import (
	"archive/tar"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// nodeAddress is where the operator looks for the instance: the port is its own
// choice.
const nodeAddress = "127.0.0.1:22"

// node is a Windows instance as the operator sees it while it copies files: an
// SSH server that answers the few commands of that time and keeps the files.
type node struct {
	dir string
	// copied is closed when the operator starts what it has copied.
	copied chan struct{}
	once   sync.Once
}

// hostKey is the instance's: the operator keeps it and takes no other.
var hostKey = sync.OnceValues(func() (ssh.Signer, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return ssh.NewSignerFromSigner(key)
})

// newNode serves until the test ends.
func newNode(t *testing.T) *node {
	t.Helper()
	key, err := hostKey()
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) { return nil, nil }}
	config.AddHostKey(key)
	l, err := net.Listen("tcp", nodeAddress)
	if err != nil {
		t.Fatalf("play a Windows instance: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	n := &node{dir: t.TempDir(), copied: make(chan struct{})}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go n.serve(c, config)
		}
	}()
	return n
}

func (n *node) serve(c net.Conn, config *ssh.ServerConfig) {
	conn, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	defer conn.Close()
	go ssh.DiscardRequests(requests)
	for ch := range channels {
		session, requests, err := ch.Accept()
		if err != nil {
			return
		}
		go n.session(session, requests)
	}
}

func (n *node) session(session ssh.Channel, requests <-chan *ssh.Request) {
	defer session.Close()
	r, ok := <-requests
	if !ok {
		return
	}
	_ = r.Reply(true, nil)
	var arg struct{ Text string }
	_ = ssh.Unmarshal(r.Payload, &arg)
	if r.Type == "subsystem" {
		server := sftp.NewRequestServer(session, sftp.Handlers{FileGet: n, FilePut: n, FileCmd: n, FileList: n})
		_ = server.Serve()
		return
	}
	out, code := n.run(arg.Text)
	_, _ = io.WriteString(session, out)
	_, _ = session.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{code}))
}

var (
	testPath = regexp.MustCompile(`^Test-Path (\S+)$`)
	fileHash = regexp.MustCompile(`Get-FileHash (\S+) `)
	expand   = regexp.MustCompile(`^tar -xzf '([^']+)' -C '([^']+)'`)
)

// run answers a command of PowerShell, and says nothing to those that change
// the instance.
func (n *node) run(command string) (out string, code uint32) {
	switch {
	case strings.HasPrefix(command, "cmd /c sc.exe qc "):
		return "FAILED 1060", 1
	case strings.HasPrefix(command, "Get-WindowsOptionalFeature"):
		return "State : Enabled", 0
	case strings.Contains(command, "windows-instance-config-daemon.exe bootstrap"):
		n.once.Do(func() { close(n.copied) })
	}
	if m := testPath.FindStringSubmatch(command); m != nil {
		if _, err := os.Stat(n.path(m[1])); err == nil {
			return "True", 0
		}
		return "False", 0
	}
	if m := fileHash.FindStringSubmatch(command); m != nil {
		return strings.ToUpper(sumOf(n.path(m[1]))) + "\r\n", 0
	}
	if m := expand.FindStringSubmatch(command); m != nil {
		if err := n.expand(m[1], m[2]); err != nil {
			return err.Error(), 1
		}
	}
	return "", 0
}

// expand does what Windows' tar does with an archive of one file.
func (n *node) expand(archive, dir string) error {
	f, err := os.Open(n.path(archive))
	if err != nil {
		return err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	r := tar.NewReader(zip)
	h, err := r.Next()
	if err != nil {
		return err
	}
	out, err := os.Create(n.path(dir + `\` + h.Name))
	if err != nil {
		return err
	}
	_, err = io.Copy(out, r)
	return errors.Join(err, out.Close())
}

// path is where a file of the instance is kept.
func (n *node) path(windows string) string {
	return filepath.Join(n.dir, url.PathEscape(strings.TrimPrefix(windows, "/")))
}

// sums are those of the instance's files, by name without folders.
func (n *node) sums(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, e := range entries {
		windows, err := url.PathUnescape(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		sums[windows[strings.LastIndex(windows, `\`)+1:]] = sumOf(filepath.Join(n.dir, e.Name()))
	}
	return sums
}

// sumOf is the SHA-256 of a file, "" without one.
func sumOf(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// Filewrite, Fileread, Filecmd and Filelist are the SFTP server.
func (n *node) Filewrite(r *sftp.Request) (io.WriterAt, error) { return os.Create(n.path(r.Filepath)) }

func (n *node) Fileread(*sftp.Request) (io.ReaderAt, error) { return nil, os.ErrNotExist }

func (n *node) Filecmd(*sftp.Request) error { return nil }

func (n *node) Filelist(*sftp.Request) (sftp.ListerAt, error) { return nil, os.ErrNotExist }
