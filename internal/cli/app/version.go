package app

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Module is the path of the module that the commands are of.
const Module = "github.com/winbake/winbake"

// A release's build sets these (.goreleaser.yaml), since the go command notes
// neither where version control is switched off.
var version, commit string

// Build is what a program says of itself.
type Build struct {
	Version string `json:"version"`
	// Commit is the full one; "" where only the version is known, as after go
	// install of a released version.
	Commit string `json:"commit,omitempty"`
	// Modified tells that the checkout had changes that weren't committed.
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`       // go1.26.8
	Platform string `json:"platform"` // linux/amd64
	// Catalog is the day that the facts in use are of, 2026-08-31; "" for none.
	Catalog string `json:"catalog,omitempty"`
	// Released tells that the module has Version: a module proxy may have it.
	Released bool `json:"-"`
}

// ReadBuild reads it from the stamps of a release's build, else from what the go
// command has noted: https://pkg.go.dev/runtime/debug#BuildInfo.
func ReadBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return readBuild(info)
}

func readBuild(info *debug.BuildInfo) Build {
	b := Build{Version: cmp.Or(info.Main.Version, "unknown"), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	b.Released = strings.HasPrefix(b.Version, "v")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit, b.Released = s.Value, false
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if b.Version == "(devel)" && b.Commit != "" {
		b.Version = "devel-" + b.Commit[:min(12, len(b.Commit))]
	}
	if version != "" {
		b.Version, b.Commit, b.Modified, b.Released = "v"+strings.TrimPrefix(version, "v"), commit, false, true
	}
	return b
}

// Version is the module's version that the command was built from, or the commit
// for a build of a checkout.
func Version() string { return ReadBuild().Version }

// rows leaves out what isn't known.
func (b Build) rows() [][]string {
	rows := [][]string{{"version", b.Version}}
	if b.Commit != "" {
		changed := ""
		if b.Modified {
			changed = " and changes that aren't committed"
		}
		rows = append(rows, []string{"commit", b.Commit + changed})
	}
	rows = append(rows, []string{"go", fmt.Sprintf("%s %s", b.Go, b.Platform)})
	if b.Catalog != "" {
		rows = append(rows, []string{"catalog", b.Catalog})
	}
	return rows
}

func addManPages(root *cobra.Command) {
	root.AddCommand(&cobra.Command{
		Use:     "man DIR",
		Short:   "Write manual pages into a folder",
		Example: "  " + root.Name() + " man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("make the folder: %w", err)
			}
			root.DisableAutoGenTag = true
			epoch := time.Unix(0, 0).UTC()
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Winbake", Date: &epoch}, args[0])
		},
	})
}
