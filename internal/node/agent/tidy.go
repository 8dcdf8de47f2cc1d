package agent

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// stale is the age from which an upload belongs to nobody who is still at it.
const stale = time.Hour

// tidy removes what was uploaded for this change, and what others left behind.
// Another change may be uploading meanwhile: its files stay. What can't be
// removed now is by the next one.
func (c *change) tidy(req *Request) {
	if req.Expectation != nil {
		for _, f := range req.Expectation.Files {
			_ = remove(filepath.Join(c.dirs.Stage, f.SHA256+StagedSuffix))
		}
	}
	entries, _ := os.ReadDir(c.dirs.Stage) // there may be none
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > stale {
			_ = remove(filepath.Join(c.dirs.Stage, e.Name()))
		}
	}
	if c.dirs.Stage != "" {
		_ = os.Remove(c.dirs.Stage) // unless something is in it
		tidyBeside(filepath.Dir(c.dirs.Stage))
	}
	c.dirs.leave()
}

// CheckPrefix begins the name of a check's folder, which is in the folder
// that commands run in.
const CheckPrefix = ".winbake-check-"

// TidyChecks removes the folders of checks that were cut off from the node
// before they could. dir is the folder that they lie in.
func TidyChecks(dir string) {
	found, _ := filepath.Glob(filepath.Join(dir, CheckPrefix+"*")) // the pattern is right
	for _, name := range found {
		if info, err := os.Lstat(name); err == nil && info.IsDir() && time.Since(info.ModTime()) > stale {
			_ = removeAll(name) // by the next check, if not by this one
		}
	}
}

// tidyBeside removes what was brought for earlier changes: another release's
// verify.exe, and what was asked of it.
func tidyBeside(dir string) {
	self, _ := os.Executable() // "" keeps none of them, and Windows the one that runs
	for _, pattern := range []string{"verify-*.exe", "expect-*.json", "request-*.json"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is right
		for _, name := range found {
			info, err := os.Stat(name)
			if err == nil && time.Since(info.ModTime()) > stale && !strings.EqualFold(filepath.Base(name), filepath.Base(self)) {
				_ = remove(name)
			}
		}
	}
}

// leave removes the state folder when it says nothing: no change is under way
// and nothing is installed. Who waits for the lock holds it open, and keeps it.
func (d Dirs) leave() {
	for _, name := range []string{d.journal(), d.record()} {
		if _, err := os.Lstat(name); !os.IsNotExist(err) {
			return
		}
	}
	_ = remove(filepath.Join(d.State, lockName))
	_ = os.Remove(d.State)
}
