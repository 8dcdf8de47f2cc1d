// Package component has what the program does with each kind of component,
// behind one interface. A kind is a package below this one, and a line of
// kinds; what versions.yaml has of it is in package pins.
//
// It orders and stores nothing: package resolve writes what a kind locks, and
// package compile runs the compiler and keeps what a kind brings.
package component

import (
	"context"
	"io"

	"github.com/winbake/winbake/internal/build/component/file"
	"github.com/winbake/winbake/internal/build/component/git"
	"github.com/winbake/winbake/internal/build/component/module"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source"
)

// Kind is one kind of component: a Program or a File.
type Kind interface {
	// Lock fetches what the pin is of, and describes it.
	Lock(ctx context.Context, env *source.Env, p source.Pin) (*source.Result, error)
	// Versions are all that the pin's source has, and the name of the pinned
	// one among them. The error is a source.NoVersions where none can be named.
	Versions(ctx context.Context, env *source.Env, p source.Pin) (current string, all []string, err error)
}

// Program is a kind that is compiled.
type Program interface {
	Kind
	// Revision is raised when Workspace starts to make something else of the
	// same lock, so that what was stored before isn't taken for it.
	Revision() int
	// Workspace brings the sources into a folder below dir, checked against
	// the lock.
	Workspace(ctx context.Context, env *source.Env, p source.Pin, dir string) (*source.Workspace, error)
}

// File is a kind that is carried as it is.
type File interface {
	Kind
	// Check says what is wrong with a file of this machine. It is asked even
	// if the file is in the store: a person who edits it wants to hear of it.
	Check(p source.Pin) error
	// Key names one content for good.
	Key(p source.Pin) string
	// Open starts to read the file, which may be larger than memory.
	Open(ctx context.Context, env *source.Env, p source.Pin) (io.ReadCloser, error)
	// Compare compares the sha256 of what was read, in hex, with the pin.
	Compare(p source.Pin, got string) error
}

var kinds = map[pins.Kind]Kind{
	pins.KindModule:  module.Kind{},
	pins.KindGit:     git.Program{},
	pins.KindGitFile: git.File{},
	pins.KindFile:    file.Kind{},
}

// Of is the kind of a component.
func Of(c *pins.Component) Kind { return kinds[c.Kind()] }
