package bake

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/build/cache"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cli/app"
)

func newCache(t *tool) *cobra.Command {
	cmd := &cobra.Command{Use: "cache"}
	path := func(context.Context, []string) (p app.Place, err error) {
		p.Path, err = t.cachePath()
		return p, err
	}
	clean := func(context.Context, []string) (p app.Place, err error) {
		if p.Path, err = t.cachePath(); err == nil {
			err = cache.Clean(p.Path)
		}
		return p, err
	}
	cmd.AddCommand(
		app.Answer(t.App, "Place", &cobra.Command{Use: "clean"}, clean, app.Place.Rows),
		app.Answer(t.App, "Place", &cobra.Command{Use: "path"}, path, app.Place.Rows),
	)
	return cmd
}

func newSchema(t *tool) *cobra.Command {
	return &cobra.Command{Use: "schema", RunE: func(*cobra.Command, []string) error { return t.print(pins.Schema()) }}
}
