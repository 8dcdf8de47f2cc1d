package pins

import (
	"bytes"
	"errors"
	"io/fs"
	"reflect"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/strictyaml"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// Load reads and checks versions.yaml. Every mistake that was found is in the
// error, each with file:line:column.
func Load(path string) (*File, error) {
	src, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src)
}

// ReadFile returns the text of versions.yaml.
func ReadFile(path string) ([]byte, error) {
	src, err := infile.Read(path, infile.Text)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault.Error{Where: path, What: "no such file", Fix: "run in the folder that holds versions.yaml, or name it: -f PATH", Err: err}
	case err != nil:
		return nil, &fault.Error{Where: path, What: "the pins can't be read: " + errors.Unwrap(err).Error(), Fix: "name versions.yaml itself: -f PATH", Err: err}
	}
	return src, nil
}

// Parse is Load for bytes that are there already. path is used in messages
// and for what is relative to the file.
func Parse(path string, src []byte) (*File, error) {
	src = bytes.TrimPrefix(src, []byte(byteOrderMark))
	d, err := newDocument(path, src)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, document: d}
	if d.Decode(f); len(d.Faults) == 0 {
		(&validator{d, f}).check(d.Root)
	}
	if err := joinFaults(d.Faults); err != nil {
		return nil, err
	}
	return f, nil
}

// versionsYAML is what messages call its parts.
var versionsYAML = strictyaml.Options{
	File: "versions.yaml", Help: "see https://github.com/winbake/winbake/blob/main/docs/versions.md for the keys", Mask: masked,
	Types: map[reflect.Type]string{
		reflect.TypeFor[File]():             "versions.yaml",
		reflect.TypeFor[Component]():        "a component",
		reflect.TypeFor[Godebug]():          "godebug",
		reflect.TypeFor[Signed]():           "signed",
		reflect.TypeFor[Service]():          "a service",
		reflect.TypeFor[Recovery]():         "recovery",
		reflect.TypeFor[winsvc.PreScript](): "a pre-script",
		reflect.TypeFor[winsvc.NodeArg]():   "a node argument",
	},
	Lists: map[string]string{"preScripts": "scripts", "nodeArgs": "names and paths"},
}

// newDocument parses src, which has one top mapping.
func newDocument(path string, src []byte) (*document, error) {
	d, err := strictyaml.Parse(path, src, versionsYAML)
	if err == nil && d.Root == nil {
		err = &fault.Error{Where: path, What: "the file is empty", Fix: "see https://github.com/winbake/winbake/blob/main/examples/README.md for a file to start from"}
	}
	return &document{d}, err
}

// SetPin returns src with one component's pin changed: the version of a
// module, the commit of a git source, the sha256 of a file. Every other byte
// stays, comments and line ends included.
func SetPin(path string, src []byte, name, value string) ([]byte, error) {
	if rest, marked := bytes.CutPrefix(src, []byte(byteOrderMark)); marked {
		edited, err := SetPin(path, rest, name, value)
		if err != nil {
			return nil, err
		}
		return append([]byte(byteOrderMark), edited...), nil
	}
	f, err := Parse(path, src)
	if err != nil {
		return nil, err
	}
	c, err := f.Component(name)
	if err != nil {
		return nil, err
	}
	kind, d := c.kind(), f.document
	value = strings.TrimPrefix(value, "sha256:")
	node := c.at[kind.pin]
	edited, err := splice(d, src, node, value, kind.quoted)
	if err != nil {
		return nil, err
	}
	after, err := Parse(path, edited)
	if err != nil {
		return nil, err
	}
	if got, err := after.Component(name); err != nil || got.text(kind.pin) != value {
		return nil, d.at(node, "this value can't be changed in place", "edit versions.yaml by hand, then: bake lock "+name)
	}
	return edited, nil
}

// splice puts value in the place of node's scalar, in the same quotes.
func splice(d *document, src []byte, node *yaml.Node, value string, quoted bool) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	if node.Line > len(lines) { // YAML knows other line ends too
		return nil, d.at(node, "this value can't be changed in place", "edit versions.yaml by hand")
	}
	line := []rune(lines[node.Line-1]) // columns count characters
	at := len(strings.Join(lines[:node.Line-1], "")) + len(string(line[:min(node.Column-1, len(line))]))
	rest := string(line[min(node.Column-1, len(line)):])
	var old, fresh string
	switch {
	case strings.HasPrefix(rest, `"`), strings.HasPrefix(rest, "'"):
		end := strings.Index(rest[1:], rest[:1])
		if end < 0 {
			return nil, d.at(node, "a value over several lines can't be changed in place", "edit versions.yaml by hand")
		}
		old, fresh = rest[:end+2], rest[:1]+value+rest[:1]
	default:
		old, fresh = node.Value, value
		if quoted {
			fresh = `"` + value + `"`
		}
	}
	if !strings.HasPrefix(rest, old) {
		return nil, d.at(node, "this value can't be changed in place", "edit versions.yaml by hand")
	}
	return bytes.Join([][]byte{src[:at], []byte(fresh), src[at+len(old):]}, nil), nil
}
