package manifests

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// failure is a document, or one object of it, that can't be taken.
type failure struct {
	where string // file:line:column
	what  string
	// fix and command are those of inventory.Problem.
	fix, command string
	// template: it was never rendered.
	template bool
}

func (f *failure) Error() string { return f.where + ": " + f.what }

func failed(d *document, n *yaml.Node, what string) *failure {
	return &failure{where: d.where(n), what: what}
}

var yamlLine = regexp.MustCompile(`\bline ([0-9]+)(?:, column [0-9]+)?: ?`)

// parserLine takes the parser's line out of its error. The line is the
// document's own, and where the parser gave up, which may be one below.
func parserLine(err error) (line int, what string) {
	what = strings.TrimPrefix(err.Error(), "yaml: ")
	m := yamlLine.FindStringSubmatchIndex(what)
	if m == nil {
		return 1, what
	}
	line, _ = strconv.Atoi(what[m[2]:m[3]]) // bounded by the file's size
	return line, what[:m[0]] + what[m[1]:]
}

// column is where a line of the document begins, or its first tab: the parser
// names no column.
func (d *document) column(line int) int {
	text := d.lineText(line)
	if i := bytes.IndexByte(text, '\t'); i >= 0 {
		return i + 1
	}
	return len(text) - len(bytes.TrimLeft(text, " ")) + 1
}

func (d *document) lineText(line int) []byte {
	n := 0
	for text := range bytes.Lines(d.text) {
		if n++; n == line {
			return bytes.TrimRight(text, "\r\n")
		}
	}
	return nil
}

func (d *document) fix(line int) string {
	if bytes.IndexByte(d.lineText(line), '\t') >= 0 {
		return "YAML takes no tabs for indentation: put spaces there"
	}
	if line >= bytes.Count(d.text, []byte("\n")) {
		return "the file may be cut off: copy it again from where it is whole"
	}
	return ""
}
