package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

// failure is a document, or one object of it, that can't be taken.
type failure struct {
	inventory.Problem
	// template: it was never rendered.
	template bool
}

func (f *failure) Error() string { return f.Where + ": " + f.What }

func (d *document) failed(line int, what, fix, command string) error {
	return &failure{Problem: inventory.Problem{Where: d.at(line), What: what, Fix: fix, Command: command}}
}

// template is the failure of a document with a sign of a template outside of
// comments; nil for one without.
func (d *document) template() *failure {
	n := 0
	for l := range bytes.Lines(d.text) {
		n++
		if !bytes.HasPrefix(bytes.TrimSpace(l), []byte("#")) && brackets.Match(l) {
			return &failure{inventory.Problem{Where: d.at(n), What: "this is a template: render it first"}, true}
		}
	}
	return nil
}

func (d *document) notJSON(err error, offset int) error {
	if f := d.template(); f != nil {
		return f
	}
	what := err.Error()
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = int(s.Offset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		offset, what = len(bytes.TrimSpace(d.text)), "it ends too early"
	}
	return d.failed(1+bytes.Count(d.text[:min(offset, len(d.text))], []byte("\n")), "this isn't JSON: "+what, whole, "")
}

// whole fixes a file that can't be parsed.
const whole = "fix that line, or copy the file again from where it is whole"

var yamlLine = regexp.MustCompile(`\bline ([0-9]+): ?`)

// problem words an error of this document: a failure of ours, or what the
// parsers say.
func (d *document) problem(err error) (p inventory.Problem, isTemplate bool) {
	f, ok := errors.AsType[*failure](err)
	if template := d.template(); template != nil && (!ok || !f.template) {
		f = template // what is wrong with the rest comes of it
	}
	if f != nil {
		if f.template {
			f.Fix, f.Command = rendered, d.render()
		}
		return f.Problem, f.template
	}
	line, what := 1, strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "json: ")
	if m := yamlLine.FindStringSubmatch(what); m != nil {
		line, _ = strconv.Atoi(m[1])
		what = strings.Replace(what, m[0], "", 1)
	}
	return inventory.Problem{Where: d.at(line), What: "this isn't YAML: " + strings.Join(strings.Fields(what), " "), Fix: whole}, false
}
