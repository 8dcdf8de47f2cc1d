package winenode

import (
	"fmt"
	"sync"
	"syscall"

	"github.com/pkg/sftp"
)

// faults are what goes wrong on a node when a test wants it. They're the SFTP
// server's and the connection's: a program inside Wine doesn't meet them.
type faults struct {
	mu     sync.Mutex
	cut    int64         // bytes until the connection is cut; 0 never
	space  int64         // bytes that may be written; negative: no end
	keep   int64         // bytes of each file that are kept; 0 all
	paused string        // a folder
	gate   chan struct{} // where uploads into it wait; nil for nowhere
}

// CutAfter cuts every connection made from now on after it has brought this
// many bytes, in the middle of a packet. 0 ends it.
func (n *Node) CutAfter(bytes int64) { n.faults.set(func(f *faults) { f.cut = bytes }) }

// Space lets SFTP write this many bytes more: after them the disk is full. A
// negative number ends it.
func (n *Node) Space(bytes int64) { n.faults.set(func(f *faults) { f.space = bytes }) }

// Truncate loses what an upload brings beyond this many bytes of a file, and
// doesn't say so. 0 ends it.
func (n *Node) Truncate(bytes int64) { n.faults.set(func(f *faults) { f.keep = bytes }) }

// Pause holds back what SFTP uploads into a folder bring from now on, all but the
// beginning of each file. resume may be called again.
func (n *Node) Pause(folder string) (resume func()) {
	gate := make(chan struct{})
	n.faults.set(func(f *faults) { f.paused, f.gate = folder, gate })
	return sync.OnceFunc(func() {
		n.faults.set(func(f *faults) { f.gate = nil })
		close(gate)
	})
}

func (f *faults) set(change func(*faults)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *faults) cutAfter() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cut
}

// wait holds an upload of this name back.
func (f *faults) wait(windows string) {
	f.mu.Lock()
	gate, holds := f.gate, below(windows, f.paused)
	f.mu.Unlock()
	if gate != nil && holds {
		<-gate
	}
}

// take lets length bytes be written at an offset of a file, and returns how
// many of them are kept.
func (f *faults) take(offset int64, length int) (kept int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.space >= 0 && int64(length) > f.space {
		return 0, fmt.Errorf("there is not enough space on the disk: %w", syscall.ENOSPC)
	}
	if f.space >= 0 {
		f.space -= int64(length)
	}
	if f.keep > 0 {
		length = int(min(int64(length), max(0, f.keep-offset)))
	}
	return length, nil
}

// mayChange refuses what Windows would.
func (n *Node) mayChange(windows string) error {
	if n.options.NotAdministrator && !below(windows, n.home) && !below(windows, `C:\Windows\Temp`) {
		return sftp.ErrSSHFxPermissionDenied
	}
	return nil
}
