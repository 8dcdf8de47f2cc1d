package app

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func addManPages(root *cobra.Command) {
	root.AddCommand(&cobra.Command{
		Use:     "man DIR",
		Short:   "Write manual pages into a folder",
		Example: "  " + root.Name() + " man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    Args(cobra.ExactArgs(1)),
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
