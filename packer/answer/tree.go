package answer

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"regexp"
	"strings"
)

// element is one of an answer file, at a line of it.
type element struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Kids    []*element `xml:",any"`
	line    int
}

// UnmarshalXML notes the line.
func (e *element) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	type plain element // has no such method
	e.line, _ = d.InputPos()
	return d.DecodeElement((*plain)(e), &start)
}

var (
	// choice is a part of a template that templatefile takes or leaves, without others in
	// it; directive is any of its marks, and placeholder what it fills in.
	choice      = regexp.MustCompile(`%\{~?\s*if [^}]*\}((?:[^%]|%[^{])*)(?:%\{~?\s*else\s*~?\}((?:[^%]|%[^{])*))?%\{~?\s*endif\s*~?\}`)
	directive   = regexp.MustCompile(`%\{[^{}]*\}`)
	placeholder = regexp.MustCompile(`\$\{[^{}]*\}`)
)

const filled = "winbake.placeholder"

// variants are the files that a template may become: with all that its
// conditions hold for, and with none of it.
func variants(text []byte) [][]byte {
	if !bytes.Contains(text, []byte("%{")) {
		return [][]byte{text}
	}
	var out [][]byte
	for group := 1; group <= 2; group++ {
		variant := bytes.Clone(text)
		for _, m := range choice.FindAllSubmatchIndex(text, -1) {
			for i := m[0]; i < m[1]; i++ {
				if variant[i] != '\n' && (i < m[2*group] || i >= m[2*group+1]) {
					variant[i] = ' '
				}
			}
		}
		out = append(out, directive.ReplaceAllFunc(variant, newlines))
	}
	return out
}

func newlines(b []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(b, []byte("\n"))) }

// parse reads a file. With an error it returns the line of that.
func parse(text []byte) (*element, int, error) {
	d := xml.NewDecoder(bytes.NewReader(placeholder.ReplaceAll(text, []byte(filled))))
	d.CharsetReader = inCharset
	root := new(element)
	err := d.Decode(root)
	line, _ := d.InputPos()
	return root, line, err
}

func (e *element) attribute(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// all are the elements at a path of names below this one.
func (e *element) all(path ...string) []*element {
	if len(path) == 0 {
		return []*element{e}
	}
	var out []*element
	for _, k := range e.Kids {
		if k.XMLName.Local == path[0] {
			out = append(out, k.all(path[1:]...)...)
		}
	}
	return out
}

// first is the first element at a path, an empty one for none.
func (e *element) first(path ...string) *element {
	for _, found := range e.all(path...) {
		return found
	}
	return new(element)
}

// at is the text of the first element at a path, "" for none.
func (e *element) at(path ...string) string { return strings.TrimSpace(e.first(path...).Text) }

// lineOf is where the first element at a path is, else the element itself.
func (e *element) lineOf(path ...string) int { return cmp.Or(e.first(path...).line, e.line) }

// components are those of the pass in which Windows Setup runs, windowsPE.
func (e *element) components(name string) []*element {
	var out []*element
	for _, s := range e.all("settings") {
		for _, c := range s.all("component") {
			if s.attribute("pass") == "windowsPE" && c.attribute("name") == name {
				out = append(out, c)
			}
		}
	}
	return out
}
