package winenode

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Options are what a node is from its start. The zero value is a Windows Server
// whose user is an administrator.
type Options struct {
	// NotAdministrator makes the SSH user an ordinary one: sc.exe refuses, so
	// does SFTP outside the user's folder and C:\Windows\Temp, and programs
	// that ask for their groups see none of administrators.
	NotAdministrator bool
	// Link is the line between the client and the node. The zero value is as
	// fast as the machine.
	Link Link
}

// Node is a running node. Its fields are for a client to reach it.
type Node struct {
	Addr       string // host:port
	HostKey    string // as a line of authorized_keys
	KnownHosts string // a known_hosts file that has HostKey for Addr
	User       string
	Password   string
	KeyFile    string // the user's private key, in OpenSSH's form
	Prefix     string // the Wine prefix, on the host

	options Options
	home    string // C:\users\NAME, the user's folder
	hold    io.Closer
	server  *server
	faults  faults
	runs    atomic.Int64 // commands so far
	arrived arrived
}

// Start makes a node for a test and ends it with the test. The first one on a
// machine makes the prefix that all are copied from, which takes seconds.
func Start(t testing.TB, o Options) *Node {
	t.Helper()
	n, stop, err := start(t.Context(), o)
	if stop != nil {
		t.Cleanup(func() {
			if err := stop(); err != nil {
				t.Errorf("end the node: %v", err)
			}
		})
	}
	if err != nil {
		t.Fatalf("start a Wine node: %v", err)
	}
	return n
}

// start returns what ends the node also when it fails half-way.
func start(ctx context.Context, o Options) (*Node, func() error, error) {
	place, err := newPlace(ctx)
	if err != nil {
		return nil, nil, err
	}
	n := &Node{User: "Administrator", Password: "winenode", Prefix: prefixOf(place.dir), options: o}
	n.faults.space = -1
	stop := func() error { return n.stop(place) }
	if err := useTemplate(ctx, func(from string) error { return clonePrefix(from, n.Prefix) }); err != nil {
		return nil, stop, err
	}
	if err := n.prepare(); err != nil {
		return nil, stop, err
	}
	if n.hold, err = holdOpen(n.Prefix); err != nil {
		return nil, stop, err
	}
	n.server, err = n.listen(place.dir)
	return n, stop, err
}

// prepare finds the user's folder and makes the node what the options say.
func (n *Node) prepare() error {
	users, err := os.ReadDir(filepath.Join(n.C(), "users"))
	if err != nil {
		return err
	}
	for _, u := range users {
		if u.Name() != "Public" {
			n.home = `C:\users\` + u.Name()
		}
	}
	if !n.options.NotAdministrator {
		return nil
	}
	sc := filepath.Join(n.C(), "windows", "system32", "sc.exe")
	if err := os.Remove(sc); err != nil {
		return err
	}
	return copyFile(filepath.Join(n.C(), "winenode", "denied.exe"), sc)
}

// holdOpen keeps the prefix up until it's closed, or the test process ends.
// Stop ends the program by the server.
func holdOpen(prefix string) (io.Closer, error) {
	// Its life isn't the context's: services must outlive a test's context until
	// its clean-up has run.
	cmd := wineCommand(context.Background(), prefix, `C:\winenode\guest.exe`, "hold")
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("start a program in Wine: %q, %w\n%s", line, errors.Join(err, cmd.Wait()), trouble.Bytes())
	}
	go func() { _ = cmd.Wait() }() // it ends with its input or by the server
	return in, nil
}

// C is where the node's C:\ is on the host.
func (n *Node) C() string { return filepath.Join(n.Prefix, "drive_c") }

// Home is the SSH user's folder on the node.
func (n *Node) Home() string { return n.home }

// Wine runs a program on the node, without SSH, and returns what it writes. An
// error has the program's exit code (*exec.ExitError), of which Linux lets
// through eight bits, and its standard error.
func (n *Node) Wine(ctx context.Context, args ...string) ([]byte, error) {
	// Files, because a program that outlives this one keeps the outputs open.
	out, err := os.CreateTemp(filepath.Dir(n.Prefix), "out")
	if err != nil {
		return nil, err
	}
	defer out.Close()
	trouble, err := os.CreateTemp(filepath.Dir(n.Prefix), "err")
	if err != nil {
		return nil, err
	}
	defer trouble.Close()
	cmd := wineCommand(ctx, n.Prefix, args...)
	cmd.Stdout, cmd.Stderr = out, trouble
	ended := cmd.Run()
	text, err := os.ReadFile(out.Name())
	if ended != nil {
		why, _ := os.ReadFile(trouble.Name())
		return text, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), ended, bytes.TrimSpace(why))
	}
	return text, err
}

// Processes lists the node's living processes whose program has this file
// name, in whatever folder.
func (n *Node) Processes(program string) ([]Process, error) {
	all, err := processes(n.Prefix)
	return slices.DeleteFunc(all, func(p Process) bool {
		return !strings.EqualFold(p.program(), program)
	}), err
}

// program is the file name of a Windows command line's first word.
func (p Process) program() string {
	line := p.Command
	if rest, ok := strings.CutPrefix(line, `"`); ok {
		line, _, _ = strings.Cut(rest, `"`)
	} else if i := strings.Index(strings.ToLower(line), ".exe"); i >= 0 {
		line = line[:i+len(".exe")]
	}
	return line[strings.LastIndexAny(line, `\/`)+1:]
}

// Kill ends a process at once, as a crash does.
func (n *Node) Kill(p Process) error { return syscall.Kill(p.PID, syscall.SIGKILL) }

// stop ends the node and waits until nothing of it lives.
func (n *Node) stop(p *place) error {
	var errs []error
	if n.server != nil {
		errs = append(errs, n.server.close())
	}
	if n.hold != nil {
		_ = n.hold.Close()
	}
	errs = append(errs, p.remove())
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		left, err := processes(n.Prefix)
		if err != nil || len(left) == 0 {
			return errors.Join(append(errs, err)...)
		}
		if time.Now().After(deadline) {
			for _, l := range left {
				errs = append(errs, fmt.Errorf("%s (%d) outlived its node", l.Command, l.PID), n.Kill(l))
			}
			return errors.Join(errs...)
		}
	}
}
