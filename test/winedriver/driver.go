// Package winedriver starts a CSI driver's Windows program in Wine and asks it what
// the kubelet and its registrar ask: Identity and the Node calls that need no volume.
//
// Volumes aren't staged: that takes disks, WMI and PowerShell, which Wine hasn't got.
package winedriver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/winbake/winbake/internal/wine"
)

// Driver is a running program.
type Driver struct {
	cmd  *exec.Cmd
	log  *log
	done chan error
	conn *grpc.ClientConn
}

// log keeps what a program prints while it runs.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Address is a TCP address that was free.
func Address() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Start starts exe, a file of the host, in a prefix that wine.Make made, with env
// beside the prefix's own.
func Start(ctx context.Context, prefix, exe, address string, env []string, args ...string) (*Driver, error) {
	name := filepath.Base(exe)
	if err := copyFile(exe, filepath.Join(prefix, "drive_c", name)); err != nil {
		return nil, err
	}
	d := &Driver{cmd: wine.Command(ctx, prefix, append([]string{`C:\` + name}, args...)...), log: &log{}, done: make(chan error, 1)}
	d.cmd.Env = append(d.cmd.Env, env...)
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { d.done <- d.cmd.Wait() }()
	var err error
	d.conn, err = grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	return d, err
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Close ends the program.
func (d *Driver) Close() error {
	err := d.conn.Close()
	_ = d.cmd.Process.Kill() // it may have ended
	return err
}

// Log is what the program has printed so far.
func (d *Driver) Log() string { return d.log.String() }

// Ended waits until the program ends by itself, and returns what it printed.
func (d *Driver) Ended(ctx context.Context) (string, error) {
	select {
	case <-d.done:
		return d.Log(), nil
	case <-ctx.Done():
		return d.Log(), context.Cause(ctx)
	}
}

// Call asks a method that takes an empty message, once the program listens. The
// answer is its fields by number: https://github.com/container-storage-interface/spec/blob/v1.11.0/csi.proto.
func (d *Driver) Call(ctx context.Context, method string) (Fields, error) {
	for {
		var answer emptypb.Empty
		err := d.conn.Invoke(ctx, "/csi.v1."+method, &emptypb.Empty{}, &answer, grpc.WaitForReady(true))
		if err == nil {
			return parse(answer.ProtoReflect().GetUnknown())
		}
		select {
		case ended := <-d.done:
			d.done <- ended
			return nil, fmt.Errorf("the program ended: %w\n%s", errors.Join(ended, err), d.Log())
		case <-ctx.Done():
			return nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Fields are the values of a message by field number: the bytes of strings and
// messages, and varints in decimal.
type Fields map[protowire.Number][]string

func parse(b []byte) (Fields, error) {
	f := Fields{}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		switch typ {
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			f[num], b = append(f[num], string(v)), b[n:]
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			f[num], b = append(f[num], fmt.Sprint(v)), b[n:]
		default:
			n := protowire.ConsumeFieldValue(num, typ, b)
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			b = b[n:]
		}
	}
	return f, nil
}

var pipe = regexp.MustCompile(`csi-proxy-([a-z]+-v[0-9a-z]+)`)

// Pipes are csi-proxy's pipes that a log names, each once: filesystem-v1beta1.
func Pipes(log string) []string {
	var all []string
	for _, m := range pipe.FindAllStringSubmatch(log, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}
