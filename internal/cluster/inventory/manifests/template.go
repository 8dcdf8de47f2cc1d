package manifests

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// brackets are those of Go's templates, and of Jinja's.
var brackets = regexp.MustCompile(`\{\{|\{%|<%`)

// variable is one that envsubst, Flux or OpenShift's Templates put in. Shell
// scripts have them too, so they count in a few fields alone.
var variable = regexp.MustCompile(`\$\{\{?[A-Za-z_][^}]*\}`)

// rendered fixes a template.
const rendered = "render it, and give what comes of it"

// ytt are the annotations of Carvel's ytt. They are comments to YAML, so that
// what is there parses, and isn't what is applied.
var ytt = regexp.MustCompile(`(?m)(?:^|[ \t])#@(?:[ \t]|overlay/|data/|schema/|yaml/|library/|ytt)`)

// carvel is the problem of a file that ytt renders.
func carvel(file string, src []byte) *inventory.Problem {
	at := []int(nil)
	if bytes.Contains(src, []byte("#@")) {
		at = ytt.FindIndex(src)
	}
	if at == nil {
		return nil
	}
	line := 1 + bytes.Count(src[:at[1]-1], []byte("\n"))
	return &inventory.Problem{
		Where: file + ":" + strconv.Itoa(line), What: "this is a template of ytt, and what it says isn't what is applied: render it first",
		Fix: rendered, Command: "ytt -f " + shell.Path(filepath.Dir(file)) + " > rendered.yaml",
	}
}

// template is the failure of a document with a sign of a template outside of
// comments; nil for one without.
func (d *document) template() *failure {
	n := 0
	for l := range bytes.Lines(d.text) {
		n++
		if trimmed := bytes.TrimLeft(l, " \t"); len(trimmed) == 0 || trimmed[0] == '#' {
			continue
		}
		if at := brackets.FindIndex(l); at != nil {
			return &failure{where: d.at(n, at[0]+1), what: "this is a template: render it first", template: true}
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// podFields are the fields in which a variable can't be meant for a shell that
// runs in the container.
var podFields = map[string]bool{"image": true, "name": true, "namespace": true, "path": true, "kubernetes.io/os": true}

// maxDepth bounds how deep an object may be nested; Kubernetes' own are some
// 20 levels deep.
const maxDepth = 200

func templated(n *yaml.Node, depth int) *yaml.Node {
	if depth > maxDepth {
		return nil
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if found := templated(item, depth+1); found != nil {
				return found
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i], n.Content[i+1]
			if value.Kind == yaml.ScalarNode {
				if podFields[name.Value] && strings.ContainsAny(value.Value, "{<") && (variable.MatchString(value.Value) || brackets.MatchString(value.Value)) {
					return value
				}
				continue
			}
			if found := templated(value, depth+1); found != nil {
				return found
			}
		}
	case yaml.ScalarNode, yaml.AliasNode, yaml.DocumentNode:
	}
	return nil
}
