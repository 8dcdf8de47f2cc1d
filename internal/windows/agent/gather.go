package agent

import (
	"cmp"
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

	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// Gather asks the node everything that node.Compare judges. It changes nothing.
func Gather(ctx context.Context, sys System, e *node.Expectation, dir Dir) *node.Facts {
	f := &node.Facts{Interrupted: interrupted(dir)}
	f.Host, f.OS = sys.Describe()
	all, allErr := sys.Services()
	wicd, err := sys.Service(winsvc.WICDName)
	f.Managed = told(wicd != nil, err)
	for _, s := range e.Services {
		facts := serviceFacts(ctx, sys, s)
		facts.Rivals = told(rivals(all, s), allErr)
		f.Services = append(f.Services, facts)
		f.Pipes = append(f.Pipes, askAll(ctx, sys, s.Pipes)...)
	}
	f.Files = hashAll(ctx, e.Files)
	return f
}

func told[T any](v T, err error) node.Told[T] {
	if err != nil {
		return node.Unknown[T](err.Error())
	}
	return node.Say(v)
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

func serviceFacts(ctx context.Context, sys System, want node.Service) node.ServiceFacts {
	f := node.ServiceFacts{Name: want.Name}
	if want.LogDirectory != "" {
		f.LogDirectory = told(isDir(want.LogDirectory))
	}
	s, err := sys.Service(want.Name)
	f.Exists = told(s != nil, err)
	if s == nil {
		return f
	}
	f.State, f.PID, f.Alive, f.Configuration = node.Say(s.State), node.Say(s.PID), s.Alive, s.Configuration
	if want.Log != "" {
		f.LogVersion = logVersionOf(ctx, want.Log, s.State)
	}
	return f
}

// flushed is longer than klog keeps lines to itself: 5 seconds
// (https://github.com/kubernetes/klog/blob/main/klog.go, flushInterval).
const flushed = 7 * time.Second

// logVersionOf reads the log until the running program's line is in it.
func logVersionOf(ctx context.Context, path, state string) node.Told[string] {
	var version string
	var err error
	_, interrupted := wait(ctx, flushed, func() (bool, error) {
		version, err = versionInLog(path)
		return !errors.Is(err, errNotYet) || state != node.StateRunning, nil
	})
	return told(version, cmp.Or(interrupted, err))
}

// rivals are services of another name that start the same program, or one of
// the same file name elsewhere: its pipes have the same names.
func rivals(all []*Service, want node.Service) []*Service {
	return slices.DeleteFunc(slices.Clone(all), func(s *Service) bool {
		return strings.EqualFold(s.Name, want.Name) || !strings.EqualFold(node.Base(programOf(s.Configuration)), node.Base(want.Path))
	})
}

func isDir(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir(), err
}

func hashAll(ctx context.Context, files []node.File) (all []node.FileFacts) {
	for _, f := range files {
		all = append(all, hashFile(ctx, f))
	}
	return all
}

func hashFile(ctx context.Context, f node.File) node.FileFacts {
	facts := node.FileFacts{Path: f.Path}
	in, err := os.Open(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		facts.Exists = node.Say(false)
		return facts
	}
	h := sha256.New()
	if err == nil {
		defer in.Close() // only read
		facts.Size, err = io.Copy(h, stream.NewReader(ctx, in))
	}
	facts.Exists, facts.SHA256 = told(true, err), told(hex.EncodeToString(h.Sum(nil)), err)
	return facts
}
