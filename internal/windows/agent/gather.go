package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// GatherOptions say how much Gather asks.
type GatherOptions struct {
	// Version is verify.exe's own.
	Version string
	// Quick leaves out what takes seconds: waiting for a log to be flushed.
	Quick bool
}

// Gather asks the node everything that Compare judges. It changes nothing.
func Gather(ctx context.Context, sys System, e *node.Expectation, dirs Dirs, o GatherOptions) *node.Facts {
	f := &node.Facts{Protocol: node.Protocol, Verify: o.Version}
	f.Host, f.OS = sys.Describe()
	f.Administrator = told(sys.Administrator())
	all, err := sys.Services()
	wicd, werr := sys.Service(winsvc.WICDName)
	f.Managed = told(wicd != nil, werr)
	f.Interrupted, f.Installed = state(dirs)
	f.Staged = staged(dirs)
	processes, perr := sys.Processes()
	g := &gatherer{sys: sys, all: all, allErr: err, processes: processes, processErr: perr, quick: o.Quick}
	for _, s := range e.Services {
		f.Services = append(f.Services, g.service(ctx, s))
	}
	f.Files = hashAll(ctx, e.Files)
	f.Pipes = g.pipes(ctx, e)
	return f
}

// staged lists the uploads that have their last name: they are whole.
func staged(d Dirs) (names []string) {
	if d.Stage == "" {
		return nil
	}
	entries, _ := os.ReadDir(d.Stage) // where it can't be read, all is sent again
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), StagedSuffix) {
			names = append(names, e.Name())
		}
	}
	return names
}

func told[T any](v T, err error) node.Told[T] {
	if err != nil {
		return node.Unknown[T](err.Error())
	}
	return node.Say(v)
}

type gatherer struct {
	sys        System
	all        []*Service
	allErr     error
	processes  []Process
	processErr error
	quick      bool
}

// askAll asks all pipes at once: one that hangs costs its timeout, not the sum.
func askAll(ctx context.Context, sys System, names []string) []node.PipeFacts {
	out := make([]node.PipeFacts, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { out[i] = sys.Pipe(ctx, name) })
	}
	wg.Wait()
	return out
}

func (g *gatherer) pipes(ctx context.Context, e *node.Expectation) []node.PipeFacts {
	var names []string
	for _, s := range e.Services {
		names = append(names, s.Pipes...)
	}
	all := askAll(ctx, g.sys, names)
	for i := range all {
		g.nameOwner(&all[i])
	}
	return all
}

func (g *gatherer) nameOwner(p *node.PipeFacts) {
	pid, ok := p.PID.Get()
	if !ok {
		return
	}
	i := slices.IndexFunc(g.processes, func(q Process) bool { return q.PID == pid && q.Image != "" })
	if i >= 0 {
		p.Image = node.Say(g.processes[i].Image)
	}
}

func (g *gatherer) service(ctx context.Context, want node.Service) node.ServiceFacts {
	f := node.ServiceFacts{Name: want.Name, Rivals: g.rivals(want)}
	if want.LogDirectory != "" {
		f.LogDirectory = told(isDir(want.LogDirectory))
	}
	s, err := g.sys.Service(want.Name)
	f.Exists = told(s != nil, err)
	if s == nil {
		return f
	}
	f.State, f.PID = node.Say(s.State), node.Say(s.PID)
	f.Alive = g.alive(s.PID)
	f.Configuration = s.Configuration
	if want.Log != "" {
		f.LogVersion = g.logVersion(ctx, want.Log, s.State)
	}
	return f
}

func (g *gatherer) alive(pid uint32) node.Told[bool] {
	if g.processErr != nil {
		return node.Unknown[bool](g.processErr.Error())
	}
	return node.Say(runs(g.processes, pid))
}

// flushed is longer than klog keeps lines to itself: 5 seconds
// (https://github.com/kubernetes/klog/blob/main/klog.go, flushInterval).
const flushed = 7 * time.Second

// logVersion reads the log until the running program's line is in it.
func (g *gatherer) logVersion(ctx context.Context, path, state string) node.Told[string] {
	for end := time.Now().Add(flushed); ; {
		v, err := versionInLog(path)
		if !errors.Is(err, errNotYet) || g.quick || state != node.StateRunning || time.Now().After(end) {
			return told(v, err)
		}
		select {
		case <-ctx.Done():
			return node.Unknown[string](ctx.Err().Error())
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// rivals are services of another name that start the same program, or one of
// the same file name elsewhere: its pipes have the same names.
func (g *gatherer) rivals(want node.Service) node.Told[[]node.Rival] {
	if g.allErr != nil {
		return node.Unknown[[]node.Rival](g.allErr.Error())
	}
	out := []node.Rival{}
	for _, s := range g.all {
		command, _ := s.Command.Get()
		if strings.EqualFold(s.Name, want.Name) || !strings.EqualFold(node.Base(program(command)), node.Base(want.Path)) {
			continue
		}
		out = append(out, node.Rival{Name: s.Name, Command: command, State: s.State, Start: s.Start, PID: node.Say(s.PID)})
	}
	return node.Say(out)
}

func isDir(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir(), err
}

// hashAll hashes files side by side, as far as a disk profits from it.
func hashAll(ctx context.Context, files []node.File) []node.FileFacts {
	out := make([]node.FileFacts, len(files))
	var group errgroup.Group
	group.SetLimit(4)
	for i, f := range files {
		group.Go(func() error {
			out[i] = hashFile(ctx, f.Path)
			return nil
		})
	}
	_ = group.Wait() // nobody returns an error
	return out
}

func hashFile(ctx context.Context, path string) node.FileFacts {
	facts := node.FileFacts{Path: path}
	sum, size, err := Sum(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		facts.Exists = node.Say(false)
	case err != nil:
		facts.Exists, facts.SHA256 = node.Unknown[bool](err.Error()), node.Unknown[string](err.Error())
	default:
		facts.Exists, facts.SHA256, facts.Size = node.Say(true), node.Say(sum), size
	}
	return facts
}

// Sum returns a file's sha256, in lower-case hex, and its size in bytes.
func Sum(ctx context.Context, path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close() // only read
	h := sha256.New()
	size, err = io.Copy(h, stream.NewReader(ctx, f))
	return hex.EncodeToString(h.Sum(nil)), size, err
}
