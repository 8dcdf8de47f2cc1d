package mustgather

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/inventory/yamlnode"
)

type document struct {
	// file names the file in evidence.
	file string
	// line is where text starts in the file, from 1.
	line int
	text []byte
	json []byte
	node *yaml.Node // made by the first locate
}

// head is what the reader itself needs of an object.
type head struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		ClaimRef struct {
			Namespace string `json:"namespace"`
		} `json:"claimRef"`
	} `json:"spec"`
}

// parse reads YAML into JSON, which is what Kubernetes' types decode.
func (d *document) parse() (head, error) {
	var h head
	j, err := sigsyaml.YAMLToJSON(d.text)
	if err != nil {
		return h, err
	}
	d.json = j
	if err := json.Unmarshal(j, &h); err != nil {
		return h, err
	}
	if h.Metadata.Name == "" {
		return h, errors.New("an object without metadata.name")
	}
	return h, nil
}

// name finds metadata.name by the indent of oc's YAML, without parsing it; ""
// where it can't be found so. Of the lists of ConfigMaps and of an operator's
// copies in every namespace nearly all is passed over by it.
func (d *document) name() string {
	outer, inner := -1, -1
	inside := false
	for line := range bytes.Lines(d.text) {
		line = bytes.TrimRight(line, "\r\n")
		rest := bytes.TrimLeft(line, " ")
		indent := len(line) - len(rest)
		switch {
		case len(rest) == 0 || rest[0] == '#' || bytes.Equal(rest, []byte("---")):
			continue
		case outer < 0:
			outer = indent
		}
		switch {
		case indent == outer:
			if inside {
				return ""
			}
			inside = bytes.Equal(rest, []byte("metadata:"))
			continue
		case !inside:
			continue
		case inner < 0:
			inner = indent
		}
		if value, ok := bytes.CutPrefix(rest, []byte("name: ")); ok && indent == inner {
			return plain(value)
		}
	}
	return ""
}

// plain is a scalar that stands as it is, "" for one that is quoted or more.
func plain(value []byte) string {
	if bytes.ContainsAny(value, "\"'{}[]&*!|>#:") {
		return ""
	}
	return string(bytes.TrimSpace(value))
}

func (d *document) decode(into any) error { return json.Unmarshal(d.json, into) }

// locate is the file and line of a field, or of the nearest thing above it
// that is there. Lines are looked up when they are asked for: of a
// must-gather's objects few become evidence.
func (d *document) locate(at ...any) string {
	if d.node == nil {
		d.node = &yaml.Node{Line: 1}
		var n yaml.Node
		if err := yaml.Unmarshal(d.text, &n); err == nil && len(n.Content) > 0 {
			d.node = n.Content[0]
		}
	}
	return d.file + ":" + strconv.Itoa(d.line-1+yamlnode.Line(d.node, at...))
}

// yamlLine finds the line in an error of the YAML parser.
var yamlLine = regexp.MustCompile(`\bline ([0-9]+)`)

// fault words an error of parse for people, with its place in the file.
func (d *document) fault(err error) (where, what string) {
	line := d.line
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if n, aerr := strconv.Atoi(m[1]); aerr == nil && n > 0 {
			line += n - 1
		}
	}
	what = strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	what = strings.TrimPrefix(what, "yaml: ")
	return d.file + ":" + strconv.Itoa(line), what
}
