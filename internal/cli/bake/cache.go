package bake

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cas"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/pins"
)

func newCache(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cache",
		Short:   "Look at the cache, or make room in it",
		Example: "  bake cache du\n  bake cache gc --max-age 720h",
	}
	output := app.NewPlace()
	path := &cobra.Command{
		Use: "path", Short: "Print the cache folder", Args: app.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			dir, err := t.cachePath()
			if err != nil {
				return err
			}
			return output.WritePlace(t.Stdout, dir)
		},
	}
	output.Register(path)
	cmd.AddCommand(newCacheDu(t), newCacheGC(t), path)
	return cmd
}

func newCacheDu(t *tool) *cobra.Command {
	output := app.NewOutput("CacheUsage", cas.Usage{})
	cmd := &cobra.Command{
		Use: "du", Short: "Show what the cache holds", Args: app.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			store, err := t.store()
			if err != nil {
				return err
			}
			usage, err := store.Usage()
			if err != nil {
				return err
			}
			return output.Write(t.Stdout, usage, func() [][]string { return usageTable(&usage) })
		},
	}
	output.Register(cmd)
	return cmd
}

func usageTable(u *cas.Usage) [][]string {
	parts := slices.Concat([]cas.Folder{{Name: "blobs", Tally: u.Blobs}, {Name: "actions", Tally: u.Actions}, {Name: "temp", Tally: u.Temp}}, u.Folders)
	rows := [][]string{{"PART", "FILES", "SIZE"}}
	for _, p := range parts {
		rows = append(rows, []string{p.Name, fmt.Sprint(p.Count), megabytes(p.Bytes)})
	}
	return append(rows, []string{"total", "", megabytes(u.Bytes())})
}

func newCacheGC(t *tool) *cobra.Command {
	var age time.Duration
	var size string
	output := app.NewOutput("Freed", cas.Freed{})
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove what nothing uses any more",
		Long: `gc removes what killed runs left, blobs that no record refers to, and, with
--max-age or --max-size, the least recently used artifacts. Running builds
keep what they work on.`,
		Example: "  bake cache gc\n  bake cache gc --max-age 720h --max-size 5GiB",
		Args:    app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			limit, err := pins.ParseSize(size)
			if err != nil {
				return &fault.Error{What: "--max-size: " + err.Error(), Fix: "give a size such as 5GiB", Err: err}
			}
			store, err := t.store()
			if err != nil {
				return err
			}
			freed, err := store.GC(cmd.Context(), cas.GCOptions{MaxAge: age, MaxBytes: limit})
			return errors.Join(output.Write(t.Stdout, freed, func() [][]string { return [][]string{{"freed " + megabytes(freed.Bytes())}} }), err)
		},
	}
	cmd.Flags().DurationVar(&age, "max-age", 0, "remove artifacts not used for this long, such as 720h")
	cmd.Flags().StringVar(&size, "max-size", "", "keep at most this much, such as 5GiB")
	output.Register(cmd)
	return cmd
}

func newSchema(t *tool) *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of versions.yaml, for editors",
		Example: "  bake schema > versions.schema.json",
		Args:    app.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return t.print(pins.Schema())
		},
	}
}
