package winenode

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/winbake/winbake/test/wine"
)

// wineCommand is a program on the node. sc.exe may be a double.
func wineCommand(ctx context.Context, prefix string, args ...string) *exec.Cmd {
	cmd := wine.Command(ctx, prefix, args...)
	cmd.Env = wine.Env(prefix, "sc.exe=n,b")
	return cmd
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Process is a process of a node, seen from Linux.
type Process struct {
	PID     int    // Linux's, not the one that Windows programs see
	Command string // its command line, such as C:\k\csi-proxy.exe -windows-service
}

// processes lists what lives with this prefix: Wine's own and the node's. One
// that has ended and that nobody has waited for doesn't live.
func processes(prefix string) ([]Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// Of a process that ended meanwhile, or of another user, there's
		// nothing to read; an ended one has no environment any more.
		env, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if !bytes.Contains(append([]byte{0}, env...), []byte("\x00WINEPREFIX="+prefix+"\x00")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		command := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
		if command != "" {
			found = append(found, Process{pid, command})
		}
	}
	return found, nil
}

// use is how a file is open in the node.
type use int

const (
	free    use = iota
	running     // as a running program's own file, which Windows lets be renamed
	open        // by a program, without FILE_SHARE_DELETE, as Go's do
)

// useOf says how a file on the host is open in the node. Wine's server has
// every open file, and a program's own for as long as it runs; programs have
// what they read and write.
func useOf(prefix, path string) (use, error) {
	want, err := os.Stat(path)
	if err != nil || !want.Mode().IsRegular() {
		return free, nil //nolint:nilerr // what isn't there is free
	}
	all, err := processes(prefix)
	found := free
	for _, p := range all {
		if found == open || !p.hasOpen(want) {
			continue
		}
		found = open
		if strings.Contains(p.Command, "wineserver") {
			found = running
		}
	}
	return found, err
}

func (p Process) hasOpen(want os.FileInfo) bool {
	dir := filepath.Join("/proc", strconv.Itoa(p.PID), "fd")
	entries, _ := os.ReadDir(dir) // none: it has ended
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && os.SameFile(want, info) {
			return true
		}
	}
	return false
}
