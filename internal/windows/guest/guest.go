// Package guest reaches a Windows machine: it runs commands there and
// brings files. What the commands and files are is its callers' (package deploy).
package guest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/proc"
	"github.com/winbake/winbake/internal/base/shell"
)

// Guest is a machine that can be reached. Names of files are relative to the
// user's folder and slash-separated; commands run in that folder, under
// whatever shell the machine has, so they hold nothing that cmd.exe and
// PowerShell read differently: no quotes, no spaces within a word.
type Guest interface {
	// Run runs a command and returns its exit code. An error says that it
	// couldn't be run, or that the connection broke off meanwhile.
	Run(ctx context.Context, command string, stdout, stderr io.Writer) (code int, err error)
	// Put writes a file, with the folders above it, under another name first:
	// what has the name is whole. It is [ErrInUse] where all went up and the
	// name couldn't be taken from a file that has it.
	Put(ctx context.Context, name string, content io.Reader) error
}

// ErrInUse says that a file couldn't be replaced: Windows keeps one that a
// program has open.
var ErrInUse = errors.New("the file is in use")

// Target is where a guest is. An empty User and port 0 are what ssh's
// configuration says.
type Target struct {
	User, Host string
	Port       int
}

// ParseTarget reads [USER@]HOST[:PORT]. A user may have an @ in it, as accounts
// of a domain do; an IPv6 address is in brackets.
func ParseTarget(s string) (Target, error) {
	wrong := func(what string) (Target, error) {
		return Target{}, &fault.Error{What: fmt.Sprintf("--ssh can't be %q: %s", s, what), Fix: "--ssh Administrator@node1.example.com or --ssh Administrator@10.0.0.7:2222"}
	}
	if s == "" {
		return Target{}, &fault.Error{What: "--ssh is missing: which node?", Fix: "--ssh Administrator@node1.example.com"}
	}
	i := strings.LastIndexByte(s, '@')
	if i == 0 {
		return wrong("it names no user")
	}
	t := Target{User: s[:max(i, 0)], Host: s[i+1:]}
	var port string
	host, after, closed := strings.Cut(strings.TrimPrefix(t.Host, "["), "]")
	switch bracket := strings.HasPrefix(t.Host, "["); {
	case bracket && (!closed || after != "" && after[0] != ':'):
		return wrong("an IPv6 address is in brackets, with :PORT or nothing after them")
	case bracket:
		t.Host, port = host, after
	case strings.Count(t.Host, ":") > 1:
		return wrong("an IPv6 address is in brackets")
	case strings.Contains(t.Host, ":"):
		i := strings.IndexByte(t.Host, ':')
		t.Host, port = t.Host[:i], t.Host[i:]
	}
	if port != "" {
		var err error
		if t.Port, err = strconv.Atoi(port[1:]); err != nil || t.Port < 1 || t.Port > 65535 {
			return wrong("the port isn't one")
		}
	}
	if t.Host == "" || strings.HasPrefix(t.Host, "-") || strings.ContainsAny(t.Host, " /\\\t\n") {
		return wrong("the host isn't a name or an address")
	}
	return t, nil
}

// port is ssh's own where none is given.
func (t Target) port() int { return cmp.Or(t.Port, 22) }

// String is USER@HOST, with the port unless it is 22.
func (t Target) String() string {
	host := t.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if t.port() != 22 {
		host += ":" + strconv.Itoa(t.Port)
	}
	if t.User == "" {
		return host
	}
	return t.User + "@" + host
}

// commandConn is a connection through a command's stdin and stdout.
type commandConn struct {
	net.Conn
	stderr bytes.Buffer
	ended  chan struct{} // closed when the command has ended
}

// endTime is how long a command whose connection has ended may take to end.
const endTime = 2 * time.Second

func (r route) start(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	c := &commandConn{Conn: ours, ended: make(chan struct{})}
	cmd := proc.Command(ctx, r.command[0], r.command[1:]...)
	cmd.Stderr, cmd.WaitDelay = &c.stderr, endTime
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, &fault.Error{Where: r.target.String(), What: "the command of ssh's configuration can't be started: " + err.Error(), Fix: "see ProxyJump and ProxyCommand in ~/.ssh/config", Err: err}
	}
	go func() {
		_, _ = io.Copy(in, theirs)
		_ = in.Close()
	}()
	go func() {
		_, _ = io.Copy(theirs, out)
		_ = theirs.Close() // netcat closes its output with the connection, and ends when its input does
		_ = cmd.Wait()     // stderr says why
		close(c.ended)
	}()
	return c, nil
}

// trouble ends the connection and returns what the command said, "" for nothing. ssh
// on each host of a long way says that it ended; a changed key takes 13 lines.
func (c *commandConn) trouble() string {
	_ = c.Close()
	<-c.ended
	lines := strings.Split(strings.TrimSpace(c.stderr.String()), "\n")
	return strings.Join(lines[:min(len(lines), 15)], "\n")
}

// try is a command for people, by the same way.
func (r route) try() string {
	words := []string{"ssh"}
	if r.asked.port() != 22 {
		words = append(words, "-p", strconv.Itoa(r.asked.Port))
	}
	return shell.Join(append(words, r.asked.User+"@"+r.asked.Host))
}

// learn is a command that adds the machine's key to the known ones.
func (r route) learn() string {
	if r.command != nil { // ssh-keyscan goes no such ways
		return r.try()
	}
	return "ssh-keyscan -p " + strconv.Itoa(r.target.port()) + " " + shell.Word(r.target.Host) + " >> ~/.ssh/known_hosts"
}
