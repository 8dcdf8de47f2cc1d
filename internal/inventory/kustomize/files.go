package kustomize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/infile"
)

var errReadOnly = errors.New("this file system is only read")

// localFiles is the disk, to read from, with kustomization files that name
// nothing remote.
type localFiles struct {
	filesys.FileSystem
	ctx     context.Context //nolint:containedctx // kustomize's interface takes none
	read    map[string]bool
	bytes   int
	missing []Missing
	// failed is the first kustomization file that couldn't be read: the library
	// says of it that it isn't there.
	failed error
}

// ReadFile reads a file within the bounds.
func (l *localFiles) ReadFile(name string) ([]byte, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	src, err := infile.Read(name, infile.Text)
	if err != nil {
		return nil, err
	}
	if l.bytes -= len(src); l.bytes < 0 {
		return nil, fmt.Errorf("its files have more than %d MiB", infile.Text*4>>20)
	}
	file, err := resolve(name)
	if err != nil {
		return nil, err
	}
	first := !l.read[file]
	l.read[file] = true
	if !slices.Contains(Names, filepath.Base(name)) {
		return src, nil
	}
	return l.kustomization(name, src, first)
}

// kustomization is a kustomization file without what isn't local.
func (l *localFiles) kustomization(name string, src []byte, first bool) ([]byte, error) {
	k, err := parse(src)
	if err != nil {
		l.failed = cmp.Or(l.failed, fmt.Errorf("%s: %w", name, err))
		return nil, err
	}
	f := filter{dir: filepath.Dir(name)}
	kept := f.kustomization(k)
	if len(f.missing) > 0 && kept.GeneratorOptions == nil {
		kept.GeneratorOptions = &types.GeneratorOptions{} // the library refuses one that nothing is left of
	}
	if first {
		for _, what := range f.missing {
			l.missing = append(l.missing, Missing{name, what})
		}
	}
	return yaml.Marshal(kept)
}

func parse(src []byte) (*types.Kustomization, error) {
	var k types.Kustomization
	if err := k.Unmarshal(src); err != nil {
		return nil, err
	}
	k.FixKustomization()
	return &k, nil
}

func (l *localFiles) list() []string { return slices.Sorted(maps.Keys(l.read)) }

// Create and the others that write refuse.
func (l *localFiles) Create(string) (filesys.File, error) { return nil, errReadOnly }
func (l *localFiles) Mkdir(string) error                  { return errReadOnly }
func (l *localFiles) MkdirAll(string) error               { return errReadOnly }
func (l *localFiles) RemoveAll(string) error              { return errReadOnly }
func (l *localFiles) WriteFile(string, []byte) error      { return errReadOnly }
func (l *localFiles) Open(string) (filesys.File, error)   { return nil, errReadOnly }

// resolve tells where a file or folder is, without links.
func resolve(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// beside tells of a regular file in a folder or below it.
func beside(dir, name string) bool {
	if looksRemote(name) || !filepath.IsLocal(name) {
		return false
	}
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode().IsRegular()
}

func empty(k types.Kustomization) bool { return reflect.DeepEqual(k, types.Kustomization{}) }
