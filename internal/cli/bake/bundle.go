package bake

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/bundle"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/image/oci"
)

// bundleOptions are those of `bake bundle`.
type bundleOptions struct {
	out      string
	only     []string
	registry app.Registry
}

func newBundle(t *tool) *cobra.Command {
	var o bundleOptions
	write := func(ctx context.Context, _ []string) (p app.Place, err error) {
		if err = t.bundle(ctx, o); err == nil {
			p.Path = o.out
		}
		return p, err
	}
	cmd := app.Answer(t.App, "Place", &cobra.Command{Use: "bundle"}, write, app.Place.Rows)
	cmd.Flags().StringVar(&o.out, "out", "", "the tar file to write")
	cmd.Flags().StringSliceVar(&o.only, "only", nil, "only the sources of these components, separated by commas")
	o.registry.Register(cmd.Flags(), "the base's registry")
	app.Complete(cmd, "only", t.fromPins(componentNames))
	return cmd
}

func (t *tool) bundle(ctx context.Context, o bundleOptions) error {
	if o.out == "" || o.out == toStdout {
		return &fault.Error{What: "no file to write", Fix: "--out sources.tar"}
	}
	target, err := atomicfs.Target(o.out)
	if err == nil {
		err = atomicfs.CheckWritable(target, filepath.Dir(target))
	}
	if err != nil {
		return err
	}
	file, jobs, err := t.jobs(trimmed(o.only))
	if err != nil {
		return err
	}
	b, err := t.builder(ctx, buildOptions{})
	if err != nil {
		return err
	}
	base, cleanup := "", func() {}
	defer func() { cleanup() }()
	if file.Base != "" {
		if base, cleanup, err = t.copyBase(ctx, file.Base, o.registry); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return atomicfs.CantWrite(target, err)
	}
	return atomicfs.CantWrite(target, atomicfs.PutFile(target, func(w io.Writer) error { return bundle.Write(ctx, b, jobs, base, w) }))
}

// copyBase writes the base as a layout into a temporary folder.
func (t *tool) copyBase(ctx context.Context, ref string, r app.Registry) (dir string, cleanup func(), err error) {
	source, err := oci.Load(ctx, ref, r.Options(t.App))
	if err != nil {
		return "", func() {}, err
	}
	defer source.Close() //nolint:errcheck // it was only read
	if dir, err = os.MkdirTemp("", "winbake-base-"); err != nil {
		return "", func() {}, fmt.Errorf("make a folder for the base: %w", err)
	}
	cleanup = func() { os.RemoveAll(dir) }
	var image oci.ImageOrIndex = source.Index()
	if source.Index() == nil {
		image, err = source.Image()
	}
	if err == nil {
		_, err = oci.WriteLayout(ctx, filepath.Join(dir, "layout"), image, nil)
	}
	return filepath.Join(dir, "layout"), cleanup, err
}
