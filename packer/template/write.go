package template

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
)

// recordName is the file that says what was written, so that the next run
// knows its own work from anybody else's.
const recordName = ".winbake.json"

// record is that file.
type record struct {
	Platform string `json:"platform"`
	Profile  string `json:"profile"`
	Windows  string `json:"windows"`
	// Files are the sha256 sums of the other files, in hex.
	Files map[string]string `json:"files"`
}

const (
	dirMode  = 0o755
	fileMode = 0o644
	// tempPrefix begins the names of folders that aren't finished.
	tempPrefix = ".winbake-"
)

// Write makes dir the template folder. The folder is made beside dir and takes
// its place at once: a killed run leaves what was there, or the new one.
//
// A folder that isn't empty is replaced only where Write made it. Files that came
// in beside ours, such as values and what a build left, are kept. A file of ours
// that was changed since is a *fault.Error that names it.
func Write(ctx context.Context, dir string, f *Folder) error {
	_, err := Update(ctx, dir, f, false)
	return err
}

// Update is Write, but with adopt it keeps files of ours that were changed since, and
// returns them. Ours is put beside such a file as NAME.new if it isn't the one that
// the change began with.
func Update(ctx context.Context, dir string, f *Folder, adopt bool) (adopted []Adopted, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("find %s: %w", dir, err)
	}
	old, err := readOld(dir, adopt)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
		return nil, cantWrite(dir, err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+tempPrefix)
	if err != nil {
		return nil, cantWrite(dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if adopted, err = fill(ctx, temp, f, old.edited); err != nil {
		return nil, cantWrite(dir, err)
	}
	if err := keep(ctx, dir, temp, append(old.others, slices.Sorted(maps.Keys(old.edited))...)); err != nil {
		return nil, cantWrite(dir, err)
	}
	if err := atomicfs.ReplaceDir(temp, dir); err != nil {
		return nil, cantWrite(dir, err)
	}
	return adopted, nil
}

// Adopted is a file that was changed by hand and kept.
type Adopted struct {
	// Path is below the folder, with slashes.
	Path string
	// New is what would have been written, beside the file; "" if that is what the
	// change began with.
	New string
}

// Note says which of the three is which: the change, what it began with, and what
// would be written today.
func (a Adopted) Note() string {
	if a.New == "" {
		return "kept as it was changed; what it began with is still what would be written"
	}
	return "kept as it was changed, and what it began with has changed too: " + a.New + " has that. Take over what you need"
}

// fill writes the files, but for those that were edited, and the record of them. It
// doesn't wait for the disk: what a power cut takes, one command brings back.
func fill(ctx context.Context, dir string, f *Folder, edited map[string]string) ([]Adopted, error) {
	r := record{Platform: f.Platform.Name, Profile: string(f.Profile), Windows: f.Windows, Files: map[string]string{}}
	var adopted []Adopted
	for _, file := range f.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		// Of an edited file too: the next run sees by it that it is edited.
		r.Files[file.Path] = sum(file.Data)
		path := file.Path
		if before, is := edited[filepath.FromSlash(file.Path)]; is {
			a := Adopted{Path: path}
			if before != sum(file.Data) {
				path += ".new"
				a.New, r.Files[path] = path, sum(file.Data)
			}
			adopted = append(adopted, a)
			if a.New == "" {
				continue
			}
		}
		if err := put(filepath.Join(dir, filepath.FromSlash(path)), file.Data); err != nil {
			return nil, err
		}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := put(filepath.Join(dir, recordName), append(data, '\n')); err != nil {
		return nil, err
	}
	return adopted, os.Chmod(dir, dirMode) // MkdirTemp made it private
}

func put(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), dirMode); err != nil {
		return err
	}
	return os.WriteFile(name, data, fileMode)
}

// old is what is in a folder already, by paths below it.
type old struct {
	// others didn't come from here.
	others []string
	// edited were changed since, with the sums that they had.
	edited map[string]string
}

// readOld refuses a folder that isn't ours, and without adopt one in which a file
// of ours isn't as we left it.
func readOld(dir string, adopt bool) (old, error) {
	found := old{edited: map[string]string{}}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return found, nil
	}
	if err != nil {
		return found, cantWrite(dir, err)
	}
	var r record
	data, err := infile.Read(filepath.Join(dir, recordName), infile.Text)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return found, refuse(dir, "it isn't a template folder that was written here", "give another folder with --out")
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil || rel == recordName {
			return err
		}
		want, ours := r.Files[filepath.ToSlash(rel)]
		if !ours {
			found.others = append(found.others, rel)
			return nil
		}
		same, err := unchanged(name, d, want)
		if err == nil && !same && !adopt {
			err = refuse(name, "the file was changed since it was written, and the change would be lost", "--adopt keeps it, and puts the new one beside it; values belong into a var-file")
		}
		if !same {
			found.edited[rel] = want
		}
		return err
	})
	return found, err
}

// unchanged reports whether a file of ours is as we left it.
func unchanged(name string, d fs.DirEntry, want string) (bool, error) {
	if !d.Type().IsRegular() {
		return false, refuse(name, "the file isn't one that was written here", "move it out of the folder, or give another one with --out")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return false, cantWrite(name, err)
	}
	return sum(data) == want, nil
}

func refuse(where, what, fix string) error {
	return &fault.Error{Where: where, What: "the folder isn't overwritten: " + what, Fix: fix}
}

func cantWrite(where string, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	return &fault.Error{Where: where, What: "can't write the template folder: " + err.Error(), Fix: "check the folder's rights and the space on its disk", Err: err}
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// keep gives the new folder the files that came into the old one beside ours. A
// file is linked and not moved: until the new folder has its place, the old one
// is whole, and afterwards the new one is.
func keep(ctx context.Context, from, to string, others []string) error {
	for _, rel := range others {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(to, filepath.Dir(rel)), dirMode); err != nil {
			return err
		}
		err := link(filepath.Join(from, rel), filepath.Join(to, rel))
		if errors.Is(err, fs.ErrExist) {
			return refuse(filepath.Join(from, rel), "the file isn't one that was written here, and a file of the template has its name", "move it out of the folder, or give another one with --out")
		}
		if err != nil {
			return refuse(filepath.Join(from, rel), "the file can't be kept: "+err.Error(), "move it out of the folder, or give another one with --out")
		}
	}
	return nil
}

// link makes name another name of a file, or the same symbolic link.
func link(old, name string) error {
	target, err := os.Readlink(old)
	if err == nil {
		return os.Symlink(target, name)
	}
	return os.Link(old, name)
}
