package bake

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/build/compile"
	"github.com/winbake/winbake/internal/cli/app"
)

func newBuild(t *tool) *cobra.Command {
	var o buildOptions
	cmd := &cobra.Command{Use: "build [component...]", Args: cobra.ArbitraryArgs, ValidArgsFunction: t.fromPins(componentNames)}
	o.register(cmd)
	o.registerLocked(cmd)
	build := func(ctx context.Context, names []string) ([]builtRow, error) { return t.build(ctx, names, o) }
	return app.Answer(t.App, "ArtifactList", cmd, build, func(rows []builtRow) [][]string {
		return app.Table("COMPONENT SIZE DIGEST PATH", rows, func(r builtRow) []string {
			return []string{r.Component, megabytes(r.Size), r.Digest, r.Path}
		})
	})
}

// builtRow is one artifact and where it lies.
type builtRow struct {
	*compile.Artifact
	Path string `json:"path"`
}

func (t *tool) build(ctx context.Context, names []string, o buildOptions) ([]builtRow, error) {
	file, jobs, err := t.jobs(names)
	if err != nil {
		return nil, err
	}
	b, err := t.builder(ctx, o)
	if err != nil {
		return nil, err
	}
	artifacts, err := b.BuildSound(ctx, jobs)
	var rows []builtRow
	for _, a := range artifacts {
		if a != nil {
			rows = append(rows, builtRow{a, b.Store.Path(a.Digest)})
		}
	}
	if err == nil && o.record {
		err = t.record(ctx, file, artifacts)
	}
	return rows, err
}

// megabytes prints a size in MB (10^6 bytes), as registries count.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func sourceDateEpoch() string { return os.Getenv("SOURCE_DATE_EPOCH") }

// listRow is one component as `bake list` shows it.
type listRow struct {
	Component string `json:"component"`
	Source    string `json:"source"`
	Version   string `json:"version"`
	Payload   string `json:"payload"`
	Install   string `json:"install,omitempty"`
	// State is cached (its artifact is in the store), to build, or stale
	// lock; Size is the artifact's bytes where it is known.
	State  string `json:"state"`
	Size   int64  `json:"size,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Cached is local, registry (one of --cache-from), or no. Seconds are those of its
	// last compile here, 0 where it wasn't compiled; Memory is what that needs, in bytes:
	// as measured here, else as versions.yaml or a guess says.
	Cached  string  `json:"cached"`
	Seconds float64 `json:"seconds,omitempty"`
	Memory  int64   `json:"memory,omitempty"`
}

const (
	cachedLocal    = "local"
	cachedRegistry = "registry"
	cachedNo       = "no"
)

// cachedIn tells where a job's artifact is.
func cachedIn(ctx context.Context, b *compile.Builder, job *compile.Job) (string, *compile.Artifact, error) {
	a, err := b.Lookup(ctx, job)
	switch {
	case err != nil:
		return cachedNo, nil, nil //nolint:nilerr // a file that isn't the pinned one isn't there
	case a != nil:
		return cachedLocal, a, nil
	}
	if has, err := b.InRegistry(ctx, job); err != nil || !has {
		return cachedNo, nil, err
	}
	return cachedRegistry, nil, nil
}

func newList(t *tool) *cobra.Command {
	cmd := &cobra.Command{Use: "list [component...]", Args: cobra.ArbitraryArgs, ValidArgsFunction: t.fromPins(componentNames)}
	var o buildOptions
	o.sharedOptions.register(cmd)
	work := cmd.Flags().Bool("to-compile", false, "only programs that nobody has compiled, those that need the most memory first: the matrix of a pipeline")
	list := func(ctx context.Context, names []string) ([]listRow, error) {
		rows, err := t.list(ctx, names, o)
		if *work {
			rows = slices.DeleteFunc(rows, func(r listRow) bool { return r.Cached != cachedNo || r.Memory == 0 })
			slices.SortStableFunc(rows, func(a, b listRow) int { return cmp.Compare(b.Memory, a.Memory) })
		}
		return rows, err
	}
	return app.Answer(t.App, "ComponentList", cmd, list, func(rows []listRow) [][]string {
		if *work {
			return app.Table("COMPONENT MIB", rows, func(r listRow) []string { return []string{r.Component, strconv.FormatInt(r.Memory>>20, 10)} })
		}
		return app.Table("COMPONENT SOURCE VERSION PAYLOAD SIZE STATE", rows, func(r listRow) []string {
			size := "-"
			if r.Size > 0 {
				size = megabytes(r.Size)
			}
			return []string{r.Component, r.Source, r.Version, r.Payload, size, r.State}
		})
	})
}

// list takes a stale lock for a state and not for an error: the user wants to see it.
func (t *tool) list(ctx context.Context, names []string, o buildOptions) (rows []listRow, err error) {
	_, components, err := t.selected(names)
	if err != nil {
		return nil, err
	}
	b, err := t.builder(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, c := range components {
		row := listRow{Component: c.Name, Source: c.Source(), Version: c.Pinned(), Payload: c.Payload, Install: c.Install, State: "stale lock", Cached: cachedNo}
		if _, jobs, err := t.jobs([]string{c.Name}); err == nil {
			row.State = "to build"
			var a *compile.Artifact
			if row.Cached, a, err = cachedIn(ctx, b, jobs[0]); err != nil {
				return nil, err
			}
			if row.Cached != cachedNo {
				row.State = "cached"
			}
			if a != nil {
				row.Size, row.Digest = a.Size, a.Digest
			}
			if c.Program() {
				row.Seconds, row.Memory = b.Cost(jobs[0])
			}
		}
		rows = append(rows, row)
	}
	return rows, ctx.Err()
}
