// Package winedriver starts a CSI driver's Windows program and a csi-proxy in Wine
// and plays the kubelet: registration, then the Identity and Node calls of a volume's
// way to a pod and back. It notes which pipes are dialled, which methods are called
// and what is answered.
//
// Played are PowerShell, wmic, the clouds' metadata services and, before Wine 10, Unix
// sockets. WMI isn't: what asks it fails. A link that Wine says it has made isn't
// there, so that a volume which was published is no proof of a mount.
package winedriver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/winbake/winbake/test/wine"
)

// Program is a Windows program that is to run.
type Program struct {
	Exe  string // a file of the host
	Args []string
	Env  []string // beside the prefix's own
	// UnixSocket is the program of test/wine/winedriver/unixsocket, for one that takes
	// nothing but Unix sockets; "" for the others. Listen and Connect are the ports
	// of 127.0.0.1 that mean the paths.
	UnixSocket      string
	Listen, Connect string
}

// Running is a running program.
type Running struct {
	cmd   *exec.Cmd
	log   *log
	done  chan error
	conns []*grpc.ClientConn
}

// Address is a TCP address that was free.
func Address() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Start starts a program in a prefix that wine.Make made.
func Start(ctx context.Context, prefix string, p Program) (*Running, error) {
	command, err := bringIn(prefix, p.Exe)
	if err != nil {
		return nil, err
	}
	args := append([]string{command}, p.Args...)
	if p.UnixSocket != "" {
		if command, err = bringIn(prefix, p.UnixSocket); err != nil {
			return nil, err
		}
		args = append([]string{command, p.Listen, p.Connect}, args...)
	}
	r := &Running{cmd: wine.Command(ctx, prefix, args...), log: &log{}, done: make(chan error, 1)}
	r.cmd.Env = append(wine.Env(prefix, "wmic.exe=n,b"), "WINEDEBUG=-all,trace+file") // the trace names the pipes
	r.cmd.Env = append(r.cmd.Env, p.Env...)
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { r.done <- r.cmd.Wait() }()
	return r, nil
}

// bringIn copies a file of the host into C:\.
func bringIn(prefix, file string) (windows string, err error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	name := filepath.Base(file)
	to := filepath.Join(prefix, "drive_c", name)
	if err := os.RemoveAll(to); err != nil { // the last one may still run
		return "", err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	return `C:\` + name, errors.Join(err, out.Close())
}

// Close ends the program.
func (r *Running) Close() error {
	var errs []error
	for _, c := range r.conns {
		errs = append(errs, c.Close())
	}
	_ = r.cmd.Process.Kill() // it may have ended
	r.done <- <-r.done
	return errors.Join(errs...)
}

// Log is what the program has printed so far.
func (r *Running) Log() string { return r.log.String() }

// ErrEnded is that of a program that has ended by itself.
var ErrEnded = errors.New("the program ended")

// Client asks the program at an address.
func (r *Running) Client(address string) (*Client, error) {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err == nil {
		r.conns = append(r.conns, conn)
	}
	return &Client{r, conn}, err
}

// Client asks a running program.
type Client struct {
	program *Running
	conn    *grpc.ClientConn
}

// Call calls a method, /csi.v1.Identity/Probe, once the program listens.
func (c *Client) Call(ctx context.Context, method string, request Message) (Fields, error) {
	for {
		var sent, answer emptypb.Empty
		sent.ProtoReflect().SetUnknown([]byte(request))
		err := c.conn.Invoke(ctx, method, &sent, &answer)
		if err == nil {
			return parse(answer.ProtoReflect().GetUnknown())
		}
		if status.Code(err) != codes.Unavailable {
			return nil, err
		}
		select {
		case ended := <-c.program.done:
			c.program.done <- ended
			return nil, fmt.Errorf("%w: %w", ErrEnded, errors.Join(ended, err))
		case <-ctx.Done():
			return nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}
