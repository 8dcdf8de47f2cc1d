package guest

import (
	"bytes"
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/proc"
	"github.com/winbake/winbake/internal/shell"
)

func (r route) connect(ctx context.Context) (net.Conn, error) {
	if r.command != nil {
		return r.start(ctx)
	}
	t := r.target
	conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", net.JoinHostPort(t.Host, strconv.Itoa(t.port())))
	if err != nil {
		return nil, &fault.Error{Where: t.String(), What: "the machine can't be reached: " + err.Error(),
			Fix: "see that it runs sshd and that nothing between filters port " + strconv.Itoa(t.port()) + "; a bastion on the way is ProxyJump in ~/.ssh/config", Err: err}
	}
	return conn, nil
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
		_ = theirs.Close()
		_ = cmd.Wait() // stderr says why
		close(c.ended)
	}()
	return c, nil
}

// trouble ends the connection and returns what the command said, "" for nothing.
func (c *commandConn) trouble() string {
	_ = c.Close()
	<-c.ended
	return strings.TrimSpace(c.stderr.String())
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
