package bake

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/atomicfs"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/source/gitsrc"
)

func newPin(t *tool) *cobra.Command {
	return &cobra.Command{
		Use:   "pin NAME[@VERSION]",
		Short: "Change one pin in versions.yaml and lock it",
		Long: `pin writes a new version (of a module), commit (of a git source) or sha256 (of
a file) into versions.yaml. Comments, order and everything else stay as they
are. Then it locks that component; if that fails, versions.yaml stays as it
was.

Without @VERSION it takes the newest commit of the component's branch.`,
		Example: `  bake pin csi-proxy@v1.3.0
  bake pin hns-module@a08bcc3242bd7369fce71da9264f300c16f59414
  bake pin azure-disk      # the newest commit of its branch`,
		Args:              app.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: t.fromPins(componentNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, value, ok := strings.Cut(args[0], "@")
			if name == "" || ok && value == "" {
				return &fault.Error{What: fmt.Sprintf("%q isn't NAME@VERSION", args[0]), Fix: "bake pin csi-proxy@v1.3.0"}
			}
			return t.pin(cmd.Context(), name, value)
		},
	}
}

func (t *tool) pin(ctx context.Context, name, value string) error {
	before, err := pins.Load(t.file) // a mistake elsewhere is reported first, as it stands
	if err != nil {
		return err
	}
	c, err := before.Component(name)
	if err != nil {
		return err
	}
	if value == "" {
		if value, err = newestOf(ctx, c); err != nil {
			return err
		}
	}
	src, err := pins.ReadFile(t.file)
	if err != nil {
		return err
	}
	edited, err := pins.SetPin(t.file, src, name, value)
	if err != nil {
		return err
	}
	file, err := pins.Parse(t.file, edited)
	if err != nil {
		return err
	}
	// The lock is written first: killed in between, the next command says
	// that the lock is stale and how to mend it, and no pin was lost.
	if err := t.lockFile(ctx, file, []string{name}); err != nil {
		return err
	}
	if bytes.Equal(src, edited) {
		return nil
	}
	return replacePins(t.file, src, edited)
}

func newestOf(ctx context.Context, c *pins.Component) (string, error) {
	if c.Branch == "" {
		return "", &fault.Error{Where: c.Name, What: "it follows no branch, so a version is needed", Fix: "bake pin " + c.Name + "@VERSION; bake outdated " + c.Name + " lists the newest"}
	}
	return gitsrc.Branch(ctx, c.Git, c.Branch)
}

// replacePins puts edited in the place of src. A link stays one, and what was
// written into the file since src was read isn't lost: to lock may take minutes.
func replacePins(path string, src, edited []byte) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("write the pins: %w", err)
	}
	now, err := infile.Read(target, infile.Text)
	if err != nil {
		return fmt.Errorf("read the pins again: %w", err)
	}
	if !bytes.Equal(now, src) {
		return &fault.Error{Where: path, What: "the file was changed while the pin was locked, and stays as it is now", Fix: "run the command again"}
	}
	if err := atomicfs.WriteFile(target, edited); err != nil {
		return fmt.Errorf("write the pins: %w", err)
	}
	return nil
}
