// Package comm is a Windows machine that Packer builds, reached over whatever
// communicator the build has (SSH or WinRM): package deploy's Guest.
//
// It moves files and starts commands; what they are is package deploy's.
package comm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/deploy"
)

// again is what fixes a connection that broke off.
const again = "see why the machine went away, then build again; max_retries = 2 on the provisioner goes on from what has arrived"

// Guest is a machine behind a communicator. Its methods may be called from
// several goroutines at once.
type Guest struct {
	comm packersdk.Communicator
	// slots bounds the sessions.
	slots chan struct{}
	names atomic.Int64 // of pieces so far
	// server is where the machine can fetch files from, "" for nowhere.
	server atomic.Pointer[string]

	asking sync.Mutex
	base   string // the folder that commands run in, slash-separated

	making  sync.Mutex
	folders map[string]bool // that were made
}

var _ deploy.Guest = (*Guest)(nil)

// New returns the machine behind c. server is a URL without a slash at its end,
// where the machine may find what is put onto it; "" for nowhere.
func New(c packersdk.Communicator, server string) *Guest {
	g := &Guest{comm: c, slots: make(chan struct{}, sessions), folders: map[string]bool{}}
	g.server.Store(&server)
	return g
}

// Run is Guest's.
func (g *Guest) Run(ctx context.Context, command string, stdout, stderr io.Writer) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	opened, ended, err := g.session(ctx)
	if err != nil {
		return 0, err
	}
	// Packer's WinRM waits for ever for a command whose output nobody takes.
	cmd := &packersdk.RemoteCmd{Command: command, Stdout: orNothing(stdout), Stderr: orNothing(stderr)}
	done := make(chan error, 1)
	go func() {
		defer ended()
		err := g.comm.Start(ctx, cmd)
		opened()
		if err == nil {
			cmd.Wait()
		}
		done <- err
	}()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case err := <-done:
		if err != nil {
			return 0, broken("a command was started", err)
		}
	}
	if cmd.ExitStatus() == packersdk.CmdDisconnect {
		return 0, broken("a command ran", nil)
	}
	return cmd.ExitStatus(), nil
}

// opening is held by the call that may be opening a session. Where the
// connection is lost, that call of Packer's communicator connects again, and
// two of them at once crash Packer, which leaves the machine behind
// (https://github.com/hashicorp/packer-plugin-sdk/blob/v0.6.10/sdk-internals/communicator/ssh/communicator.go,
// reconnect: it sets to nil the connection that another is shaking hands on).
//
// It is the process's, which has one machine: a try that max_retries makes
// meets the calls that the one before it left.
var opening = make(chan struct{}, 1)

// session waits until a session may be opened. The caller calls opened, as often
// as it likes, when it is open, and ended at its end.
func (g *Guest) session(ctx context.Context) (opened, ended func(), err error) {
	select {
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case g.slots <- struct{}{}:
	}
	select {
	case <-ctx.Done():
		<-g.slots
		return nil, nil, ctx.Err()
	case opening <- struct{}{}:
	}
	opened = sync.OnceFunc(func() { <-opening })
	return opened, func() { opened(); <-g.slots }, nil
}

func orNothing(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

func broken(when string, err error) error {
	what := "the connection to the machine broke off while " + when
	if err != nil {
		what += ": " + err.Error()
	}
	return &fault.Error{What: what, Fix: again, Err: deploy.ErrBroken}
}

// Get reads a file.
func (g *Guest) Get(ctx context.Context, name string, w io.Writer) error {
	where, err := g.path(ctx, name)
	if err != nil {
		return err
	}
	_, ended, err := g.session(ctx)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		defer ended()
		done <- g.comm.Download(where, w)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		if err != nil {
			return &fault.Error{Where: name, What: "can't be read on the machine: " + err.Error(), Fix: again, Err: err}
		}
	}
	return nil
}

// path is where a communicator finds a file. Names are relative to the folder
// that commands run in; what a file transfer takes a relative name for differs
// from one communicator to the next.
func (g *Guest) path(ctx context.Context, name string) (string, error) {
	if absolute(name) {
		return name, nil
	}
	g.asking.Lock()
	defer g.asking.Unlock()
	if g.base == "" {
		var out strings.Builder
		code, err := g.Run(ctx, "cmd /c cd", &out, nil)
		if err != nil {
			return "", err
		}
		dir := strings.ReplaceAll(strings.TrimSpace(out.String()), `\`, "/")
		if code != 0 || !absolute(dir) || strings.ContainsAny(dir, "\r\n") {
			return "", &fault.Error{What: fmt.Sprintf("the machine doesn't say in which folder commands run: exit code %d, %q", code, out.String()),
				Fix: "see that it is Windows: winbake-node works on nothing else"}
		}
		g.base = strings.TrimSuffix(dir, "/")
	}
	return path.Join(g.base, name), nil
}

// absolute tells whether a slash-separated name begins at a drive.
func absolute(name string) bool {
	return len(name) > 2 && name[1] == ':' && name[2] == '/'
}

// windows spells a name for a command. Names hold no spaces.
func windows(name string) string { return strings.ReplaceAll(name, "/", `\`) }

// fetched has the machine fetch a file from Packer's HTTP server: WinRM takes
// minutes for a megabyte. A machine that can't is sent everything.
//
// Nothing protects what comes that way. Uploads are checked by their sums
// before they take their place, and a program is checked here, before it runs.
func (g *Guest) fetched(ctx context.Context, name string, content io.ReaderAt, size int64) (bool, error) {
	server := *g.server.Load()
	program := path.Ext(name) == ".exe"
	if server == "" || !program && path.Ext(name) != ".gz" {
		return false, nil
	}
	part := windows(name + partSuffix)
	code, err := g.Run(ctx, "cmd /c curl.exe -fsS --connect-timeout 10 -o "+part+" "+server+"/"+path.Base(name), nil, nil)
	if err != nil {
		return false, err
	}
	if code != 0 {
		var none string
		g.server.Store(&none)
		return false, nil
	}
	if program {
		same, err := g.hasSum(ctx, part, io.NewSectionReader(content, 0, size))
		if err != nil || !same {
			return false, err
		}
	}
	return true, g.must(ctx, name, "move /y", part, windows(name))
}

// hasSum compares a file of the machine, by Windows' own word, with content.
func (g *Guest) hasSum(ctx context.Context, file string, content io.Reader) (bool, error) {
	h := sha256.New()
	if _, err := io.Copy(h, content); err != nil {
		return false, err
	}
	var out bytes.Buffer
	code, err := g.Run(ctx, "cmd /c certutil.exe -hashfile "+file+" SHA256", &out, nil)
	text := strings.ReplaceAll(strings.ToLower(out.String()), " ", "")
	return code == 0 && strings.Contains(text, hex.EncodeToString(h.Sum(nil))), err
}
