package template

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
func Write(ctx context.Context, dir string, f *Folder) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("find %s: %w", dir, err)
	}
	others, err := readOld(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
		return cantWrite(dir, err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+tempPrefix)
	if err != nil {
		return cantWrite(dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := fill(ctx, temp, f); err != nil {
		return cantWrite(dir, err)
	}
	if err := keep(ctx, dir, temp, others); err != nil {
		return cantWrite(dir, err)
	}
	if err := atomicfs.ReplaceDir(temp, dir); err != nil {
		return cantWrite(dir, err)
	}
	return nil
}

// fill writes the files and the record of them. It doesn't wait for the disk: what a
// power cut takes, one command brings back.
func fill(ctx context.Context, dir string, f *Folder) error {
	r := record{Platform: f.Platform.Name, Profile: string(f.Profile), Windows: f.Windows, Files: map[string]string{}}
	for _, file := range f.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.Files[file.Path] = sum(file.Data)
		if err := put(filepath.Join(dir, filepath.FromSlash(file.Path)), file.Data); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := put(filepath.Join(dir, recordName), append(data, '\n')); err != nil {
		return err
	}
	return os.Chmod(dir, dirMode) // MkdirTemp made it private
}

func put(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), dirMode); err != nil {
		return err
	}
	return os.WriteFile(name, data, fileMode)
}

// readOld returns the files in a folder that didn't come from here, by paths below it. It
// refuses a folder that isn't ours, and one in which a file of ours isn't as we left it.
func readOld(dir string) (others []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, cantWrite(dir, err)
	}
	var r record
	data, err := infile.Read(filepath.Join(dir, recordName), infile.Text)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return nil, refuse(dir, "it isn't a template folder that was written here", "give another folder with --out")
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
			others = append(others, rel)
			return nil
		}
		return unchanged(name, d, want)
	})
	return others, err
}

// unchanged refuses a file of ours that isn't as we left it.
func unchanged(name string, d fs.DirEntry, want string) error {
	if !d.Type().IsRegular() {
		return refuse(name, "the file isn't one that was written here", "move it out of the folder, or give another one with --out")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return cantWrite(name, err)
	}
	if sum(data) != want {
		return refuse(name, "the file was changed since it was written, and the change would be lost",
			"give another folder with --out and take the change over, or put values into a var-file and steps of your own into --extra-script")
	}
	return nil
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
