package gomod

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/shell"
)

// Sums are the h1 sums of a go.sum file, keyed by "path version" for a
// module's files and "path version/go.mod" for its go.mod alone.
type Sums map[string]string

// ParseSums reads a go.sum file. Lines that aren't of go.sum's form are left
// to the go command, which refuses them.
func ParseSums(data []byte) Sums {
	sums := Sums{}
	for sc := bufio.NewScanner(bytes.NewReader(data)); sc.Scan(); {
		f := strings.Fields(sc.Text())
		if len(f) == 3 && strings.HasPrefix(f[2], "h1:") {
			sums[f[0]+" "+f[1]] = f[2]
		}
	}
	return sums
}

// Of returns the h1 of a module's files, or "".
func (s Sums) Of(path, version string) string { return s[path+" "+version] }

// Checker hashes modules in the module cache and compares them with their
// sums. One module is hashed once in a Checker's life, however many programs
// are built from it.
type Checker struct {
	mu   sync.Mutex
	done map[string]*check
}

type check struct {
	once sync.Once
	sum  string
	err  error
}

// NewChecker returns a Checker that has checked nothing yet.
func NewChecker() *Checker { return &Checker{done: map[string]*check{}} }

// Check hashes every module's folder against sums. The go command doesn't: it
// compares the sum of the zip it once downloaded, so a file edited in the
// module cache is compiled and the executable still names the genuine h1.
func (c *Checker) Check(ctx context.Context, modules []LinkedModule, sums Sums) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, m := range modules {
		if m.Local() {
			continue // checked as part of its tree
		}
		g.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return c.checkOne(m.Used(), sums)
		})
	}
	return g.Wait()
}

func (c *Checker) checkOne(m LinkedModule, sums Sums) error {
	want := sums.Of(m.Path, m.Version)
	if want == "" {
		return &fault.Error{
			What: fmt.Sprintf("no h1 sum for module %s %s", m.Path, m.Version),
			Fix:  "lock the component again: bake lock",
		}
	}
	got, err := c.sumOf(m)
	if err != nil {
		return fmt.Errorf("hash module %s %s: %w", m.Path, m.Version, err)
	}
	if got != want {
		return &fault.Error{
			What:  fmt.Sprintf("the module cache's copy of %s %s was changed: its h1 is %s, the lock's is %s", m.Path, m.Version, got, want),
			Where: m.Dir,
			Fix:   "move the copy aside and run the command again: mv " + shell.Word(m.Dir) + " " + shell.Word(m.Dir+".changed"),
		}
	}
	return nil
}

func (c *Checker) sumOf(m LinkedModule) (string, error) {
	key := m.Path + "@" + m.Version + "\x00" + m.Dir
	c.mu.Lock()
	e := c.done[key]
	if e == nil {
		e = &check{}
		c.done[key] = e
	}
	c.mu.Unlock()
	e.once.Do(func() {
		if _, e.err = os.Stat(m.Dir); e.err == nil {
			e.sum, e.err = dirhash.HashDir(m.Dir, m.Path+"@"+m.Version, dirhash.Hash1)
		}
	})
	return e.sum, e.err
}
