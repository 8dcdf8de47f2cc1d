package winenode

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// dial logs in with the node's key, its host key checked.
func dial(t *testing.T, n *Node) *ssh.Client {
	t.Helper()
	c, err := tryDial(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func tryDial(n *Node) (*ssh.Client, error) {
	key, err := os.ReadFile(n.KeyFile)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		return nil, err
	}
	known, err := knownhosts.New(n.KnownHosts)
	if err != nil {
		return nil, err
	}
	return ssh.Dial("tcp", n.Addr, &ssh.ClientConfig{User: n.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: known})
}

// result is what a command over SSH gave.
type result struct {
	stdout, stderr string
	code           int
}

func run(t *testing.T, c *ssh.Client, stdin, command string) result {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out, trouble bytes.Buffer
	s.Stdin, s.Stdout, s.Stderr = strings.NewReader(stdin), &out, &trouble
	r := result{}
	if err := s.Run(command); err != nil {
		exit := (*ssh.ExitError)(nil)
		if !errors.As(err, &exit) {
			t.Fatalf("%s: %v", command, err)
		}
		r.code = exit.ExitStatus()
	}
	r.stdout, r.stderr = out.String(), trouble.String()
	return r
}

func TestCommands(t *testing.T) {
	t.Parallel()
	n := Start(t, Options{})
	c := dial(t, n)
	for _, test := range []struct {
		stdin, command, stdout string
		code                   int
	}{
		{"", `echo hello`, "hello\r\n", 0},
		{"", `exit 7`, "", 7},
		{"", `exit 1060`, "", 1060},
		{"", `echo "two words" & exit 3`, "\"two words\" \r\n", 3},
		{"", `"C:\winenode\guest.exe" version`, "10.0.20348 type 3 elevated true\n", 0},
		{"", `C:\winenode\guest.exe version`, "10.0.20348 type 3 elevated true\n", 0},
		{"text", `C:\winenode\guest.exe hold`, "up\n", 0},
		{"", `cd`, n.Home() + "\r\n", 0},
		{"", `mkdir "C:\Zür ich"`, "", 0},
	} {
		if r := run(t, c, test.stdin, test.command); r != (result{test.stdout, "", test.code}) {
			t.Errorf("%s: %q %q %d, want %q and code %d", test.command, r.stdout, r.stderr, r.code, test.stdout, test.code)
		}
	}
	if !isDir(filepath.Join(n.C(), "Zür ich")) {
		t.Error(`C:\Zür ich isn't there`)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	n := Start(t, Options{})
	c := dial(t, n)
	client, err := sftp.NewClient(c)
	if err != nil {
		t.Fatal(err)
	}
	home, err := client.Getwd()
	if err != nil || !strings.HasPrefix(home, "/C:/users/") {
		t.Errorf("the home is %q, %v", home, err)
	}
	if err := client.MkdirAll("/C:/k/log dir"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{`C:\k\a.txt`, "C:/K/b.txt", "/c:/k/log dir/zür ümlaut.txt"} {
		f, err := client.Create(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := f.Write([]byte("text")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		path, err := n.Path(name)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); string(text) != "text" {
			t.Errorf("%s is %q at %s, %v", name, text, path, err)
		}
	}
	if r := run(t, c, "", `type "C:\k\log dir\zür ümlaut.txt"`); r.stdout != "text" {
		t.Errorf("a program reads %+v", r)
	}
	if _, err := os.Stat(filepath.Join(n.C(), "k", "b.txt")); err != nil {
		t.Error(err)
	}
}

// scp and sftp of OpenSSH end with the exit status of the server's side.
func TestFileServerEndsWell(t *testing.T) {
	t.Parallel()
	ch, requests, err := dial(t, Start(t, Options{})).OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := ch.SendRequest("subsystem", true, ssh.Marshal(struct{ Name string }{"sftp"})); !ok || err != nil {
		t.Fatalf("no sftp: %v", err)
	}
	c, err := sftp.NewClientPipe(ch, ch)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stat("/C:/windows"); err != nil {
		t.Error(err)
	}
	if err := ch.CloseWrite(); err != nil {
		t.Error(err)
	}
	got := "nothing"
	for r := range requests {
		got = fmt.Sprintf("%s %x", r.Type, r.Payload)
	}
	if want := "exit-status 00000000"; got != want {
		t.Errorf("it ends with %s, want %s", got, want)
	}
}

func TestStrangersStayOut(t *testing.T) {
	t.Parallel()
	n := Start(t, Options{})
	for name, auth := range map[string]ssh.AuthMethod{"password": ssh.Password("wrong"), "none": ssh.KeyboardInteractive(nil)} {
		_, err := ssh.Dial("tcp", n.Addr, &ssh.ClientConfig{User: n.User, Auth: []ssh.AuthMethod{auth}, HostKeyCallback: ssh.InsecureIgnoreHostKey()})
		if err == nil {
			t.Errorf("%s let a stranger in", name)
		}
	}
	version := ""
	check := func(_ string, _ net.Addr, key ssh.PublicKey) error { version = key.Type(); return nil }
	c, err := ssh.Dial("tcp", n.Addr, &ssh.ClientConfig{User: n.User, Auth: []ssh.AuthMethod{ssh.Password(n.Password)}, HostKeyCallback: check})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := string(c.ServerVersion()); got != serverVersion || version != ssh.KeyAlgoED25519 {
		t.Errorf("the server is %q with a key of %s", got, version)
	}
}

// TestSessions: a connection has no more of them than sshd allows.
func TestSessions(t *testing.T) {
	t.Parallel()
	c := dial(t, Start(t, Options{}))
	for range maxSessions {
		if _, err := c.NewSession(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.NewSession(); err == nil || !strings.Contains(err.Error(), "open failed") {
		t.Errorf("one more: %v", err)
	}
}
