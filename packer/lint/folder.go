package lint

import (
	"context"

	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

// folder is a template, and what its machines are brought.
type folder struct {
	*hclfolder.Folder

	machines []*block // the sources, each once for each of its builds, or an empty one where there is none
	brought  map[*block]brought
	scripts  []Script                     // what the machine that is read is brought, in files and by the HCL itself
	mentions []string                     // paths in the HCL at which there is nothing
	filling  map[string]map[string]string // values that templatefile puts into files
	missing  []piece                      // those of all machines that Packer stops at, under what names them
}

type block = hclfolder.Block

// at is a place in a file, for evidence.
func at(file string, line int) []string { return hclfolder.At(file, line) }

// brought is what a source's machine has executed, and the paths at which there is nothing.
type brought struct {
	scripts  []Script
	mentions []string
}

const (
	absent  = hclfolder.Absent
	unknown = hclfolder.Unknown
	known   = hclfolder.Known
)

func load(ctx context.Context, path string, varFiles []string) (*folder, error) {
	read, err := hclfolder.Load(ctx, path, varFiles)
	if err != nil {
		return nil, err
	}
	f := &folder{Folder: read, brought: map[*block]brought{}}
	f.follow()
	return f, nil
}
