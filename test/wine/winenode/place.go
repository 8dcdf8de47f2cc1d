package winenode

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/winbake/winbake/test/support/filelock"
	"github.com/winbake/winbake/test/wine"
)

// place is a node's folder on the host, with a guard that empties it: a test
// that runs into its time limit, or is killed, runs no clean-up.
type place struct {
	dir    string
	unlock func()
	guard  *exec.Cmd
	leash  io.Closer
}

// guardScript waits for the end of its input, which comes with the end of the
// test process, however sudden, then ends what lives in the prefix. It's given
// the node's folder.
const guardScript = `cat >/dev/null
wineserver -k >/dev/null 2>&1
for i in 1 2 3; do rm -rf -- "$1" 2>/dev/null && break; sleep 1; done
rm -f -- "$1.lock"`

// newPlace makes a folder for a node, and removes those whose test process and
// guard both ended before they could.
func newPlace(ctx context.Context) (*place, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	nodes := filepath.Join(cache, "wine-nodes")
	if err := os.MkdirAll(nodes, 0o755); err != nil {
		return nil, err
	}
	unlock, err := filelock.Wait(ctx, nodes+".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := sweep(nodes); err != nil {
		return nil, err
	}
	p := &place{}
	if p.dir, err = os.MkdirTemp(nodes, ""); err != nil {
		return nil, err
	}
	if p.unlock, err = filelock.Wait(ctx, p.dir+".lock"); err != nil {
		return nil, err
	}
	return p, p.setGuard()
}

func (p *place) setGuard() error {
	p.guard = guardOf(p.dir)
	var err error
	if p.leash, err = p.guard.StdinPipe(); err != nil {
		return err
	}
	return p.guard.Start()
}

// prefixOf is the Wine prefix in a node's folder.
func prefixOf(dir string) string { return filepath.Join(dir, "prefix") }

func guardOf(dir string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", guardScript, "winenode-guard", dir)
	cmd.Env = wine.Env(prefixOf(dir)) // Wine's server is found by it
	// Out of reach of what a terminal or a test runner sends to the group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// remove ends what lives in the place and takes it away.
func (p *place) remove() error {
	defer p.unlock()
	if p.leash == nil {
		return os.RemoveAll(p.dir)
	}
	if err := p.leash.Close(); err != nil {
		return err
	}
	if err := p.guard.Wait(); err != nil {
		return fmt.Errorf("remove %s: %w", p.dir, err)
	}
	return nil
}

// sweep removes the places that nobody has locked.
func sweep(nodes string) error {
	dirs, err := filepath.Glob(filepath.Join(nodes, "*[0-9]"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		unlock, err := filelock.Try(dir + ".lock")
		if err != nil {
			return err
		}
		if unlock == nil {
			continue
		}
		err = guardOf(dir).Run() // with no input, it doesn't wait
		unlock()
		if err != nil {
			return fmt.Errorf("remove the left-over node %s: %w", dir, err)
		}
	}
	return nil
}
