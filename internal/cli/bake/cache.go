package bake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/cas"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cli/app"
)

func newCache(t *tool) *cobra.Command {
	cmd := &cobra.Command{Use: "cache"}
	path := func(context.Context, []string) (p app.Place, err error) {
		p.Path, err = t.cachePath()
		return p, err
	}
	usage := func(context.Context, []string) (u cas.Usage, err error) {
		store, err := t.store()
		if err == nil {
			u, err = store.Usage()
		}
		return u, err
	}
	cmd.AddCommand(
		app.Answer(t.App, "CacheUsage", &cobra.Command{Use: "du"}, usage, usageTable),
		newCacheGC(t),
		app.Answer(t.App, "Place", &cobra.Command{Use: "path"}, path, app.Place.Rows),
	)
	return cmd
}

func usageTable(u cas.Usage) [][]string {
	parts := slices.Concat([]cas.Folder{{Name: "blobs", Tally: u.Blobs}, {Name: "actions", Tally: u.Actions}, {Name: "temp", Tally: u.Temp}}, u.Folders)
	rows := app.Table("PART FILES SIZE", parts, func(p cas.Folder) []string { return []string{p.Name, fmt.Sprint(p.Count), megabytes(p.Bytes)} })
	return append(rows, []string{"total", "", megabytes(u.Bytes())})
}

func newCacheGC(t *tool) *cobra.Command {
	var age time.Duration
	var size string
	collect := func(ctx context.Context, _ []string) (freed cas.Freed, err error) {
		limit, err := pins.ParseSize(size)
		if err != nil {
			return freed, &fault.Error{What: "--max-size: " + err.Error(), Fix: "give a size such as 5GiB", Err: err}
		}
		store, err := t.store()
		if err != nil {
			return freed, err
		}
		return store.GC(ctx, cas.GCOptions{MaxAge: age, MaxBytes: limit})
	}
	cmd := app.Answer(t.App, "Freed", &cobra.Command{Use: "gc"}, collect, func(freed cas.Freed) [][]string {
		return [][]string{{"freed " + megabytes(freed.Bytes())}}
	})
	cmd.Flags().DurationVar(&age, "max-age", 0, "remove artifacts not used for this long, such as 720h")
	cmd.Flags().StringVar(&size, "max-size", "", "keep at most this much, such as 5GiB")
	return cmd
}

func newSchema(t *tool) *cobra.Command {
	return &cobra.Command{Use: "schema", RunE: func(*cobra.Command, []string) error { return t.print(pins.Schema()) }}
}
