package guest

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
)

// Options say how a machine is reached. The zero value does as ssh does.
type Options struct {
	// KnownHosts are the files to check the machine's key against, Identities
	// the private keys to log in with; none mean ssh's own.
	KnownHosts, Identities []string
	// Config is ssh's configuration, "" for its own, "none" for none.
	Config string
	// Warn is told of a key file that others can read; nil for nobody.
	Warn func(file, what string)
}

const (
	dialTime = 15 * time.Second
	// A connection whose other end is silent for so long is given up.
	aliveEvery, aliveTime = 10 * time.Second, 20 * time.Second
)

// SSH is a Guest over SSH and SFTP.
type SSH struct {
	target Target
	client *ssh.Client
	stop   context.CancelFunc

	mu    sync.Mutex
	files *sftp.Client
}

var _ Guest = (*SSH)(nil)

// Dial connects and logs in, by the way that ssh's configuration says. The end
// of ctx ends the connection.
func Dial(ctx context.Context, t Target, o Options) (*SSH, error) {
	way, err := newRoute(ctx, t, o.Config)
	if err != nil {
		return nil, err
	}
	t = way.target
	keys, err := newHostKeys(o.KnownHosts, way)
	if err != nil {
		return nil, err
	}
	login, err := findKeys(o.Identities, way, o.Warn)
	if err != nil {
		return nil, err
	}
	defer login.close()
	ctx, stop := context.WithCancel(ctx)
	conn, err := way.connect(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(dialTime))
	c, channels, requests, err := ssh.NewClientConn(conn, keys.addr, &ssh.ClientConfig{
		User: t.User, Auth: login.methods(), HostKeyCallback: keys.callback(way), HostKeyAlgorithms: keys.algorithms(),
	})
	if err != nil {
		stop()
		return nil, handshakeFault(way, conn, login, err)
	}
	_ = conn.SetDeadline(time.Time{})
	s := &SSH{target: t, client: ssh.NewClient(c, channels, requests), stop: stop}
	go s.keepAlive(ctx)
	return s, nil
}

func handshakeFault(way route, conn net.Conn, login *credentials, err error) error {
	t := way.target
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if piped, ok := conn.(*commandConn); ok {
		if said := piped.trouble(); said != "" {
			return &fault.Error{Where: t.String(), What: "the way that ssh's configuration says doesn't lead there", Excerpt: said,
				Fix: "see that this works and asks nothing: " + shell.Join(way.command), Err: err}
		}
	}
	if strings.Contains(err.Error(), "unable to authenticate") {
		return login.refused(way, err)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &fault.Error{Where: t.String(), What: "the machine says nothing: after " + dialTime.String() + " the login isn't done", Fix: "try: " + way.try(), Err: err}
	}
	return &fault.Error{Where: t.String(), What: "the machine doesn't speak SSH as expected: " + err.Error(), Fix: "try: " + way.try(), Err: err}
}

// keepAlive ends a connection whose other end has gone without a word.
func (s *SSH) keepAlive(ctx context.Context) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		gone := time.AfterFunc(aliveTime, s.stop)
		_, _, err := s.client.SendRequest("keepalive@openssh.com", true, nil)
		gone.Stop()
		if err != nil {
			s.stop()
			return
		}
	}
}

// Close ends the connection.
func (s *SSH) Close() error {
	err := s.client.Close()
	s.stop()
	return err
}

// Run is Guest's.
func (s *SSH) Run(ctx context.Context, command string, stdout, stderr io.Writer) (int, error) {
	session, err := s.client.NewSession()
	if err != nil {
		return 0, s.broken("a command was started", err)
	}
	defer session.Close() //nolint:errcheck // what it did is done
	session.Stdout, session.Stderr = stdout, stderr
	done := context.AfterFunc(ctx, func() { _ = session.Close() })
	defer done()
	err = session.Run(command)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if exit, ok := errors.AsType[*ssh.ExitError](err); ok {
		return exit.ExitStatus(), nil
	}
	if err != nil {
		return 0, s.broken("a command ran", err)
	}
	return 0, nil
}

// ErrBroken says that the connection broke off: whether what was asked for was
// done isn't known.
var ErrBroken = errors.New("the connection broke off")

func (s *SSH) broken(when string, err error) error {
	return &fault.Error{Where: s.target.String(), What: "the connection broke off while " + when,
		Fix: "run the same command again: it goes on from there", Err: errors.Join(ErrBroken, err)}
}

func (s *SSH) sftp() (*sftp.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files != nil {
		return s.files, nil
	}
	var err error
	s.files, err = sftp.NewClient(s.client, sftp.UseConcurrentWrites(true), sftp.MaxConcurrentRequestsPerFile(64))
	if err != nil {
		return nil, &fault.Error{Where: s.target.String(), What: "the machine serves no SFTP: " + err.Error(), Fix: "enable the sftp subsystem in its sshd_config", Err: err}
	}
	return s.files, nil
}

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
