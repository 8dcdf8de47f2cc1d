// Package facts writes down, for people, what the catalog knows and what an
// inventory read. It judges nothing: findings are package report's.
package facts

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"
	"unicode"

	"github.com/winbake/winbake/internal/autoescape"
	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
)

//go:embed facts.tmpl
var source string

// pages have the cells of a table between tabs. Whatever they write is clean.
var pages = func() *template.Template {
	all := template.Must(template.New("facts").Funcs(template.FuncMap{
		"clean": clean, "upper": strings.ToUpper, "versions": versions, "patches": patches, "between": between, "api": api, "builds": builds,
		"images": images, "manifest": manifest,
		"fork":  func(git string) string { return strings.TrimPrefix(git, "https://github.com/") },
		"join":  func(list []string) string { return strings.Join(list, ", ") },
		"lines": func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' }) },
	}).Parse(source))
	for _, t := range all.Templates() {
		autoescape.With(t, "clean")
	}
	return all
}()

func write(w io.Writer, page string, data any) error {
	var text strings.Builder
	if err := pages.ExecuteTemplate(&text, page, data); err != nil {
		return err
	}
	columns := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(columns, strings.TrimRight(line, "\t \n")); err != nil {
			return err
		}
	}
	return columns.Flush()
}

// Inventory writes what was read, and nothing else.
func Inventory(w io.Writer, inv *inventory.Inventory) error { return write(w, "inventory", inv) }

// Catalog writes the table of releases and the driver versions that each
// ships. A driver that was rebased inside a release has both versions.
func Catalog(w io.Writer, c *catalog.Catalog) error { return write(w, "catalog", c) }

// Driver writes what is known of one driver, with its evidence.
func Driver(w io.Writer, c *catalog.Catalog, d *catalog.Driver) error {
	return write(w, "driver", &subject{Catalog: c, Driver: d})
}

// Release writes all that is known of one release, with the evidence of each row.
func Release(w io.Writer, c *catalog.Catalog, a *catalog.About) error {
	return write(w, "release", &subject{Catalog: c, About: a})
}

// subject is what a page is about, with the evidence of the rows so far.
type subject struct {
	*catalog.Catalog
	Driver   *catalog.Driver
	About    *catalog.About
	Evidence []string
}

// Note keeps where a row comes from, each place once, and writes nothing.
func (s *subject) Note(list []catalog.Evidence) string {
	for _, e := range list {
		s.NoteSource(e.Source, e.Note)
	}
	return ""
}

// NoteSource is Note of one place.
func (s *subject) NoteSource(source, note string) string {
	line := strings.TrimSuffix(source+": "+note, ": ")
	if !slices.Contains(s.Evidence, line) {
		s.Evidence = append(s.Evidence, line)
	}
	return ""
}

// clean keeps what is in somebody's manifest from steering the terminal.
func clean(value any) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, fmt.Sprint(value))
}
