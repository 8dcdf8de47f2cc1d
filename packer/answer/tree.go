package answer

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
)

// tree is an element of an answer file, at a line of it. The file itself is one
// without a name, at the line where reading it ended.
type tree struct {
	start    xml.StartElement
	line     int
	depth    int // of the root 0
	parent   *tree
	kids     []*tree
	text     string // between the elements in it
	textLine int    // where that ends
}

// directive is what templatefile takes out, placeholder what it fills in.
var (
	directive   = regexp.MustCompile(`%\{[^{}]*\}`)
	placeholder = regexp.MustCompile(`\$\{[^{}]*\}`)
)

const filled = "winbake.placeholder"

// decoder reads a file, or a template of one, that is in UTF-8 by now, whatever
// it declares.
func decoder(text []byte) *xml.Decoder {
	d := xml.NewDecoder(bytes.NewReader(placeholder.ReplaceAll(directive.ReplaceAllFunc(text, keepLines), []byte(filled))))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return d
}

func keepLines(b []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(b, []byte("\n"))) }

// deepest is more than any answer file has.
const deepest = 100

// parse reads a file. With an error it returns what comes before that.
func parse(text []byte) (*tree, error) {
	d, file := decoder(text), &tree{depth: -1}
	for here := file; ; {
		token, err := d.Token()
		line, _ := d.InputPos()
		file.line = line
		if errors.Is(err, io.EOF) {
			return file, nil
		}
		if err != nil {
			return file, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &tree{start: token.Copy(), line: line, depth: here.depth + 1, parent: here}
			if here.kids = append(here.kids, e); e.depth > deepest {
				return file, errors.New("elements are in each other too often")
			}
			here = e
		case xml.CharData:
			if here.text += string(token); strings.TrimSpace(string(token)) != "" {
				here.textLine = line
			}
		case xml.EndElement:
			here = here.parent
		}
	}
}

// walk visits the elements below this one, each before those in it.
func (t *tree) walk(visit func(*tree)) {
	for _, k := range t.kids {
		visit(k)
		k.walk(visit)
	}
}

func (t *tree) attribute(name string) string {
	for _, a := range t.start.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// binds reports whether a prefix or a default stands for this namespace here.
func (t *tree) binds(namespace string) bool {
	return t != nil && (t.parent.binds(namespace) || slices.ContainsFunc(t.start.Attr, func(a xml.Attr) bool {
		return a.Value == namespace && (a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns")
	}))
}

// all are the elements at a path of names below this one.
func (t *tree) all(path ...string) []*tree {
	if len(path) == 0 {
		return []*tree{t}
	}
	var out []*tree
	for _, k := range t.kids {
		if k.start.Name.Local == path[0] {
			out = append(out, k.all(path[1:]...)...)
		}
	}
	return out
}

// first is the first element at a path, an empty one for none.
func (t *tree) first(path ...string) *tree {
	for _, e := range t.all(path...) {
		return e
	}
	return &tree{}
}

// at is the text of the first element at a path, "" for none.
func (t *tree) at(path ...string) string { return strings.TrimSpace(t.first(path...).text) }

// lineOf is where the first element at a path is, else the element itself.
func (t *tree) lineOf(path ...string) int { return cmp.Or(t.first(path...).line, t.line) }

// components are those of the pass in which Windows Setup runs, windowsPE.
func (t *tree) components(name string) []*tree {
	var out []*tree
	for _, s := range t.all("settings") {
		for _, c := range s.all("component") {
			if s.attribute("pass") == "windowsPE" && c.attribute("name") == name {
				out = append(out, c)
			}
		}
	}
	return out
}

// runners are the elements that hold a command, by the one that has its line.
var runners = map[string][]string{
	"Path":        {"RunSynchronousCommand", "RunAsynchronousCommand"},
	"CommandLine": {"SynchronousCommand", "AsynchronousCommand"},
}

// Commands are the command lines that an answer file has run, in their order;
// what can't be read any more has none.
func Commands(data []byte) []string {
	text, err := Text(data)
	if err != nil {
		return nil
	}
	var out []string
	file, _ := parse(text)
	file.walk(func(e *tree) {
		if line := strings.TrimSpace(e.text); line != "" && slices.Contains(runners[e.start.Name.Local], e.parent.start.Name.Local) {
			out = append(out, line)
		}
	})
	return out
}
