package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
)

// The names in the state folder.
const (
	journalName = "journal.json"
	recordName  = "installed.json"
	lockName    = "lock"
)

// The endings of files next to their target: the next one, unpacked and
// checked, and the last one, until the change is done.
const (
	newSuffix = ".winbake-new"
	oldSuffix = ".winbake-old"
)

// journal is written before anything is changed and removed when all is done.
// Whatever cuts a change short, what it holds and what is next to each target
// say how to put the node back, or, once Done, how to end.
type journal struct {
	Verb      Verb            `json:"verb"`
	Reference string          `json:"reference,omitempty"`
	Files     []fileChange    `json:"files,omitempty"`
	Services  []serviceChange `json:"services,omitempty"`
	// Folders are those that the change makes, the outermost first; LogFolders
	// those of them that services write into.
	Folders    []string `json:"folders,omitempty"`
	LogFolders []string `json:"logFolders,omitempty"`
	// Touched says that services may be stopped and files swapped: before, all
	// there is to put back is what was put next to it.
	Touched bool `json:"touched,omitempty"`
	// Done says that the node is what it should be: what is left is to clean.
	Done bool `json:"done,omitempty"`
	// Record is what installed.json will hold; nil removes it.
	Record *record `json:"record,omitempty"`
}

// fileChange is one file. Old and New are sums; "" for no file.
type fileChange struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
	Size int64  `json:"size,omitempty"`
}

// serviceChange is one service. Before and After are nil where there is none.
type serviceChange struct {
	Name    string    `json:"name"`
	Program string    `json:"program,omitempty"`
	Before  *Settings `json:"before,omitempty"`
	After   *Settings `json:"after,omitempty"`
	// Ran tells whether it ran before; Restart whether it must be stopped for
	// the change. A service that runs and only gets settings isn't.
	Ran     bool     `json:"ran,omitempty"`
	Restart bool     `json:"restart,omitempty"`
	Pipes   []string `json:"pipes,omitempty"`
	// Idle says that it isn't started: its start type leaves that to others.
	Idle bool `json:"idle,omitempty"`
	// PipesBefore are those of Pipes that it served before.
	PipesBefore []string `json:"pipesBefore,omitempty"`
	// Dependents ran and depend on it.
	Dependents []string `json:"dependents,omitempty"`
}

// record is what is on the node by our doing. Of a service it has name, program and
// pipes.
type record struct {
	Reference string          `json:"reference"`
	Files     []fileChange    `json:"files"`
	Services  []serviceChange `json:"services"`
	// Folders and LogFolders were made by us.
	Folders    []string `json:"folders,omitempty"`
	LogFolders []string `json:"logFolders,omitempty"`
}

// state reads what Facts say of a change that was cut short and of the record.
func state(d Dirs) (interrupted, installed string) {
	if j, err := readJSON[journal](d.journal()); err != nil {
		interrupted = "a change that left an unreadable journal: " + err.Error()
	} else if j != nil {
		interrupted = string(j.Verb) + " " + j.Reference
	}
	if r, err := readJSON[record](d.record()); err == nil && r != nil {
		installed = r.Reference
	}
	return interrupted, installed
}

func (d Dirs) journal() string { return filepath.Join(d.State, journalName) }
func (d Dirs) record() string  { return filepath.Join(d.State, recordName) }

// readJSON returns nil for a file that isn't there.
func readJSON[T any](path string) (*T, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := json.Unmarshal(data, v); err != nil {
		return nil, &fault.Error{Where: path, What: "can't be read: " + err.Error(),
			Fix: "look at the node's files and services, then move this file to another folder", Err: err}
	}
	return v, nil
}

// writeJSON replaces a file at once, with its content on the disk before its
// name.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// remove is os.Remove that doesn't mind what is gone already.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeAll removes a folder with what is in it, by names: os.RemoveAll
// deletes through handles since Go 1.26, which Wine 8 answers with "Invalid
// function". Anyone who may write into these folders is an administrator.
func removeAll(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return remove(dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := removeAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return remove(dir)
}

// lockTime is how long a change waits for another one: as long as the agent
// of a session that was cut may take to find out.
const lockTime = 60 * time.Second

// What klog and csi-proxy write when they start: klog's header goes to the
// file at once, the version when klog flushes its buffer, after 5 seconds
// (https://github.com/kubernetes/klog, rotateFile; csi-proxy, cmd/csi-proxy/main.go).
const (
	logHeader  = "Log file created at: "
	logVersion = "] Version: "
)

// maxLog is how much of a log is read, from its end. csi-proxy's log grows
// without bound, and its version is in it once for each start.
const maxLog = 512 << 20

// errNotYet says that the running program's version isn't in its log so far.
var errNotYet = errors.New("its log has no version since the program was started: it is written some seconds later, or the log was begun again since")

// versionInLog returns the version that was written after the last start.
func versionInLog(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("open its log: %w", err)
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, info.Size()-maxLog)
	return scanLog(io.NewSectionReader(f, from, info.Size()-from))
}

// scanLog keeps the last version, and forgets it at each header.
func scanLog(r io.Reader) (version string, err error) {
	err = errNotYet
	for in := bufio.NewReaderSize(r, 1<<20); ; {
		line, rerr := in.ReadSlice('\n') // a line of a MiB comes in parts: it isn't one of these
		if _, mark, ok := bytes.Cut(line, []byte(logVersion)); ok && rerr == nil {
			version, err = string(bytes.TrimSpace(mark)), nil
		} else if ok || bytes.Contains(line, []byte(logHeader)) {
			version, err = "", errNotYet
		}
		switch {
		case rerr == io.EOF:
			return version, err
		case rerr != nil && !errors.Is(rerr, bufio.ErrBufferFull):
			return "", fmt.Errorf("read its log: %w", rerr)
		}
	}
}

func cantWrite(path string, err error) error {
	f := &fault.Error{Where: path, What: "can't be written: " + err.Error(), Fix: "look at what lies there, and who may write it", Err: err}
	switch {
	case diskFull(err):
		f.What, f.Fix = "the node's disk is full: "+err.Error(), "make room on it, then run this again"
	case errors.Is(err, os.ErrPermission):
		f.Fix = "log in as an administrator: --ssh Administrator@HOST; or see who may write there: icacls on the node"
	}
	return f
}
