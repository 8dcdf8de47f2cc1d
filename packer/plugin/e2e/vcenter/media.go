package vcenter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"github.com/winbake/winbake/test/wine/winenode"
)

// media are the files on a machine's CDs and floppies, but for ISOs that the
// datastore only has by name: Windows' own.
func (s *Server) media(ctx context.Context, vm *simulator.VirtualMachine) ([]winenode.File, error) {
	var all []winenode.File
	for _, d := range vm.Config.Hardware.Device {
		var drive, name string
		var extract []string
		switch backing := d.GetVirtualDevice().Backing.(type) {
		case *types.VirtualCdromIsoBackingInfo:
			drive, name, extract = "CD", backing.FileName, fromCD
		case *types.VirtualFloppyImageBackingInfo:
			drive, name, extract = "A", backing.FileName, fromFloppy
		default:
			continue
		}
		file := s.onDatastore(name)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		files, err := filesOf(ctx, drive, file, extract)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		all = append(all, files...)
	}
	return all, nil
}

// onDatastore is where a file of the datastore is on this machine.
func (s *Server) onDatastore(name string) string {
	var at object.DatastorePath
	if !at.FromString(name) {
		return name
	}
	for _, e := range s.model.Map().All("Datastore") {
		if ds, ok := e.(*simulator.Datastore); ok && ds.Name == at.Datastore {
			return filepath.Join(ds.Info.GetDatastoreInfo().Url, filepath.FromSlash(at.Path))
		}
	}
	return name
}

// maxFile is more than any script or answer file has; a CD may have programs too.
const maxFile = 1 << 20

// What means the image and the folder in a command that extracts files.
const image, dest = "IMAGE", "DEST"

// The commands that extract files. xorriso, which Packer makes CDs with, does what
// it is told in that order.
var (
	fromCD     = []string{"xorriso", "-osirrox", "on", "-indev", image, "-extract", "/", dest}
	fromFloppy = []string{"mcopy", "-s", "-n", "-i", image, "::", dest}
)

// filesOf are the small files of an image that this command extracts.
func filesOf(ctx context.Context, drive, from string, extract []string) ([]winenode.File, error) {
	dir, err := os.MkdirTemp("", "winbake-media-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // a temporary folder
	extract = slices.Clone(extract)
	for i, arg := range extract {
		extract[i] = cmp.Or(map[string]string{image: from, dest: dir}[arg], arg)
	}
	if out, err := exec.CommandContext(ctx, extract[0], extract[1:]...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", extract[0], err, out)
	}
	var files []winenode.File
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Size() > maxFile {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		files = append(files, winenode.File{Path: drive + `:\` + strings.ReplaceAll(rel, "/", `\`), Data: data})
		return err
	})
	return files, err
}
