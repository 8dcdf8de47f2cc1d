// Package facts writes down, for people, what the catalog knows. It judges nothing:
// findings are package report's.
package facts

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"
	"unicode"

	"github.com/winbake/winbake/internal/base/autoescape"
	"github.com/winbake/winbake/internal/cluster/catalog"
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

func versions(rows []catalog.Shipped) string {
	if len(rows) == 0 {
		return "-"
	}
	var all []string
	for i, s := range rows {
		v := cmp.Or(s.Version, "unknown")
		if i > 0 && s.FromZ != nil {
			v += fmt.Sprintf(" (.%d)", *s.FromZ)
		}
		all = append(all, v)
	}
	return strings.Join(all, ", ")
}

func patches(minor string, s catalog.Shipped) string {
	text := "all"
	switch {
	case s.FromZ != nil && s.UntilZ != nil:
		text = fmt.Sprintf("%s.%d to .%d", minor, *s.FromZ, *s.UntilZ)
	case s.FromZ != nil:
		text = fmt.Sprintf("from %s.%d", minor, *s.FromZ)
	case s.UntilZ != nil:
		text = fmt.Sprintf("to %s.%d", minor, *s.UntilZ)
	}
	if s.Head != "" {
		text += " (head of the branch on " + s.Head + ")"
	}
	if s.FuzzyZ > 0 {
		text += fmt.Sprintf(" (give or take %d)", s.FuzzyZ)
	}
	return text
}

// between is a range of versions; until "" is an open one.
func between(from, until string) string {
	if until == "" {
		return "from " + from
	}
	return from + " to before " + until
}

func api(uses []catalog.APIUse) string {
	var all []string
	for _, u := range uses {
		all = append(all, u.Group+" "+strings.Join(u.Versions, "|"))
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

// servers are the Windows Server versions of builds.
var servers = map[int]string{17763: "2019", 20348: "2022", 26100: "2025"}

func builds(list []int) string {
	var all []string
	for _, b := range list {
		text := fmt.Sprint(b)
		if server := servers[b]; server != "" {
			text += " (" + server + ")"
		}
		all = append(all, text)
	}
	return cmp.Or(strings.Join(all, ", "), "not known")
}

func images(p *catalog.Publication) string {
	text := p.Repository
	switch {
	case text == "" && len(p.Former) > 0:
		text = "nowhere any more"
	case text == "":
		text = "not known"
	}
	if len(p.Also) > 0 {
		text += " (also " + strings.Join(p.Also, ", ") + ")"
	}
	if p.Unsure {
		text += ", not every version's was seen there"
	}
	if len(p.Former) > 0 {
		text += "; gone: " + strings.Join(p.Former, ", ")
	}
	return text
}

// manifest is what brings the DaemonSet; {{version}} in it is for one of
// the range.
func manifest(p *catalog.Publication) string {
	text := ""
	switch {
	case p.Deploys != "":
		return p.Deploys + " brings the DaemonSet"
	case p.Render != "":
		return p.Render
	case p.HasManifest():
		text = p.Manifest
	default:
		return "where the manifest is wasn't seen"
	}
	if p.SetImage {
		text += ", with its image set to that of the version"
	}
	if len(p.Missing) > 0 {
		text += ", which isn't there for " + strings.Join(p.Missing, ", ")
	}
	return text
}
