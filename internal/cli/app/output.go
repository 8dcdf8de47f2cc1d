package app

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// Output is the -o flag of commands that print a table.
type Output struct{ format string }

// Register adds -o to cmd.
func (o *Output) Register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", "text", "text or json")
	Choices(cmd, "output", "text", "json")
}

// Write prints v as JSON, or rows as a table whose first row is its head.
func (o *Output) Write(w io.Writer, v any, rows func() [][]string) error {
	if o.format == "json" {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range rows() {
		fmt.Fprintln(tw, strings.TrimRight(strings.Join(row, "\t"), "\t "))
	}
	return tw.Flush()
}
