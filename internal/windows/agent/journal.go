package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/node"
)

// Dir is the folder of the agent's own: it holds the journal and the record of
// what was installed. Only administrators may write there.
type Dir string

func (d Dir) journal() string { return filepath.Join(string(d), "journal.json") }
func (d Dir) record() string  { return filepath.Join(string(d), "installed.json") }
func (d Dir) lock() string    { return filepath.Join(string(d), "lock") }

// The endings of files next to their target: the next one, written and checked,
// and the last one, until the change is done.
const (
	newSuffix = ".winbake-new"
	oldSuffix = ".winbake-old"
)

// journal is written before anything is changed and removed when all is done.
// Whatever cuts a change short, what it holds and what is next to each target
// say how to put the node back, or, once Done, how to end.
type journal struct {
	Files    []fileChange    `json:"files,omitempty"`
	Services []serviceChange `json:"services,omitempty"`
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

// String names the change.
func (j *journal) String() string {
	if j.Record == nil {
		return "remove"
	}
	return "install " + j.Record.Reference
}

// fileChange is one file. Old and New are sums; "" for no file.
type fileChange struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

// serviceChange is one service. Before and After are nil where there is none.
type serviceChange struct {
	Name   string    `json:"name"`
	Before *Settings `json:"before,omitempty"`
	After  *Settings `json:"after,omitempty"`
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

// record is what is on the node by our doing.
type record struct {
	Reference string `json:"reference"`
	// Expectation is all that was installed and not removed since.
	Expectation *node.Expectation `json:"expectation"`
	// Folders and LogFolders were made by us.
	Folders    []string `json:"folders,omitempty"`
	LogFolders []string `json:"logFolders,omitempty"`
}

// Installed is what was installed on the node; nil for nothing.
func Installed(d Dir) (*node.Expectation, error) {
	r, err := readJSON[record](d.record())
	if r == nil {
		return nil, err
	}
	return r.Expectation, err
}

// interrupted names a change that was cut short, "" for none.
func interrupted(d Dir) string {
	j, err := readJSON[journal](d.journal())
	switch {
	case err != nil:
		return "a change that left an unreadable journal: " + err.Error()
	case j == nil:
		return ""
	}
	return j.String()
}

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
		return cantWrite(path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return cantWrite(path, err)
	}
	return nil
}

// remove is os.Remove that doesn't mind what is gone already.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cantWrite(path, err)
	}
	return nil
}

// removeFolders takes away folders that we made: log folders with the
// files in them, the others if nothing is in them.
func removeFolders(folders, logs []string) error {
	for _, d := range logs {
		entries, _ := os.ReadDir(d) // of one that is gone, or isn't read, nothing goes
		for _, e := range entries {
			if err := remove(filepath.Join(d, e.Name())); err != nil {
				return err
			}
		}
	}
	for i := len(folders) - 1; i >= 0; i-- {
		_ = os.Remove(folders[i]) // somebody else's files are in it
	}
	return nil
}

// leave removes the state folder when it says nothing: no change is under way
// and nothing is installed. Who waits for the lock holds it open, and keeps it.
func (d Dir) leave() {
	for _, name := range []string{d.journal(), d.record()} {
		if _, err := os.Lstat(name); !os.IsNotExist(err) {
			return
		}
	}
	_ = remove(d.lock())
	_ = os.Remove(string(d))
}

// lockTime is how long a change waits for another one: as long as the agent
// of a session that was cut may take to find out.
const lockTime = 60 * time.Second

func cantWrite(path string, err error) error {
	return &fault.Error{Where: path, What: "can't be written: " + err.Error(), Fix: "see who may write it, what has it open, and how much room the disk has; then run this again", Err: err}
}
