package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/console"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/report"
)

// Output is the -o flag of a command. It is the flag's value too.
type Output struct {
	// Kinds are what -o json prints: the name of a kind, and a value of its type.
	// docs/output.schema.json is made of them.
	Kinds map[string]any
	// Formats are the values of -o, the usual one first; none: text and json.
	Formats []string

	format string
}

// NewOutput is the flag of a command that prints text, and one kind as JSON.
func NewOutput(kind string, sample any) Output { return Output{Kinds: map[string]any{kind: sample}} }

// Place is the answer of a command that names one file or folder.
type Place struct {
	Path string `json:"path"`
}

// Rows is the path, alone on its line.
func (p Place) Rows() [][]string { return [][]string{{p.Path}} }

// Answer has cmd print what ask returns: as rows, or with -o json as one of kind. What
// there is is printed with an error too.
func Answer[T any](a *App, kind string, cmd *cobra.Command, ask func(ctx context.Context, args []string) (T, error), rows func(T) [][]string) *cobra.Command {
	output := NewOutput(kind, *new(T))
	output.Register(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		answer, err := ask(cmd.Context(), args)
		if err != nil && reflect.ValueOf(&answer).Elem().IsZero() {
			return err
		}
		return errors.Join(output.Write(a.Stdout, answer, func() [][]string { return rows(answer) }), err)
	}
	return cmd
}

// Table is a row for each item, below a head of words if there is one.
func Table[T any](head string, items []T, row func(T) []string) (table [][]string) {
	if head != "" {
		table = append(table, strings.Fields(head))
	}
	for _, item := range items {
		table = append(table, row(item))
	}
	return table
}

// Register adds -o to cmd.
func (o *Output) Register(cmd *cobra.Command) {
	if o.Formats == nil {
		o.Formats = []string{"text", "json"}
	}
	o.format = o.Formats[0]
	last := len(o.Formats) - 1
	cmd.Flags().VarP(o, "output", "o", strings.Join(o.Formats[:last], ", ")+" or "+o.Formats[last])
	Choices(cmd, "output", o.Formats...)
}

// String implements pflag.Value: it is the format.
func (o *Output) String() string { return o.format }

// Set implements pflag.Value. Choices refuses what can't be.
func (o *Output) Set(format string) error { o.format = format; return nil }

// Type implements pflag.Value.
func (o *Output) Type() string { return "string" }

// Write prints v as JSON, or rows as a table whose first row is its head.
func (o *Output) Write(w io.Writer, v any, rows func() [][]string) error {
	if o.format == "json" {
		return o.JSON(w, v)
	}
	if IsTerminal(w) { // which would break the lines, and the table with them
		columns, _ := console.Size(behind(w))
		_, err := io.WriteString(w, strings.Join(append(printable.Fit(rows(), columns), ""), "\n"))
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range rows() {
		fmt.Fprintln(tw, strings.TrimRight(strings.Join(row, "\t"), "\t "))
	}
	return tw.Flush()
}

// JSON prints v, whose type is that of one of Kinds.
func (o *Output) JSON(w io.Writer, v any) error {
	for kind, sample := range o.Kinds {
		if reflect.TypeOf(sample) != reflect.TypeOf(v) {
			continue
		}
		text, err := report.Envelope(kind, v)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		return err
	}
	panic(fmt.Sprintf("no kind has the type %T", v))
}
