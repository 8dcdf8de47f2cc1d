package resolve

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/shell"
)

// Layouts gives the drivers that have no version those of images that bake driver
// wrote: each of dirs is an OCI layout or a folder of them. No registry is asked.
func Layouts(ctx context.Context, inv *inventory.Inventory, dirs []string) error {
	r := &resolver{known: map[string]answer{}, local: map[string]answer{}}
	for _, dir := range dirs {
		found := 0
		for _, layout := range []string{dir, filepath.Join(dir, "*")} {
			paths, err := filepath.Glob(filepath.Join(layout, "oci-layout"))
			if err != nil {
				return &fault.Error{Where: dir, What: "it can't be looked into", Fix: "give a path without *, ? and [", Err: err}
			}
			for _, p := range paths {
				if err := r.layout(ctx, filepath.Dir(p)); err != nil {
					return err
				}
				found++
			}
		}
		if found == 0 {
			what := "there is no OCI layout in it"
			if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
				what = "no such folder"
			}
			return &fault.Error{Where: dir, What: what, Fix: "give what bake driver wrote, such as --image-layout " + shell.Word("_output/driver")}
		}
	}
	return r.all(ctx, inv)
}

// layout learns the labels of a layout's images, by the digest of each and of the
// whole.
func (r *resolver) layout(ctx context.Context, dir string) error {
	s, err := ociimage.Load(ctx, "oci:"+dir, ociimage.Options{Platform: &v1.Platform{OS: "windows", Architecture: "amd64"}})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // only read
	images, err := s.Images()
	if err != nil {
		return err
	}
	for _, i := range images {
		file, err := s.ConfigOf(i.Image)
		if err != nil {
			return err
		}
		if a, ok := own(file.Config.Labels); ok {
			r.local[i.Digest.String()], r.local[s.Digest.String()] = a, a
		}
	}
	return nil
}
