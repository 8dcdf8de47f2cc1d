package vcenter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"github.com/winbake/winbake/test/winenode"
)

// media are the files on a machine's CDs, but for ISOs that the datastore only
// has by name: Windows' own. unread names what has files too and isn't read:
// nothing that is maintained reads the floppies that Packer makes.
func (s *Server) media(ctx context.Context, vm *simulator.VirtualMachine) (all []winenode.File, unread string, err error) {
	for _, d := range vm.Config.Hardware.Device {
		if floppy, ok := d.(*types.VirtualFloppy); ok {
			if _, ok := floppy.Backing.(*types.VirtualFloppyImageBackingInfo); ok {
				unread = "the floppy"
			}
		}
		cd, ok := d.(*types.VirtualCdrom)
		if !ok {
			continue
		}
		iso, ok := cd.Backing.(*types.VirtualCdromIsoBackingInfo)
		if !ok {
			continue
		}
		file := s.onDatastore(iso.FileName)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		files, err := filesOf(ctx, file)
		if err != nil {
			return nil, "", fmt.Errorf("read the CD %s: %w", iso.FileName, err)
		}
		all = append(all, files...)
	}
	return all, unread, nil
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

// filesOf are the small files on a CD. xorriso is what Packer made it with.
func filesOf(ctx context.Context, iso string) ([]winenode.File, error) {
	dir, err := os.MkdirTemp("", "winbake-cd-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	cmd := exec.CommandContext(ctx, "xorriso", "-osirrox", "on", "-indev", iso, "-extract", "/", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("xorriso: %w\n%s", err, out)
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
		files = append(files, winenode.File{Path: `CD:\` + strings.ReplaceAll(rel, "/", `\`), Data: data})
		return err
	})
	return files, err
}
