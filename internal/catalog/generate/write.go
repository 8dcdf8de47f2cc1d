package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/atomicfs"
	"github.com/winbake/winbake/internal/catalog"
)

// releasesFile is releases.yaml. All but the drivers is kept by hand.
type releasesFile struct {
	Releases []catalog.Release `json:"releases"`
}

// commitsFile is commits.yaml.
type commitsFile struct {
	Commits []catalog.Commit `json:"commits"`
}

const commitsHead = `# Source commits of OpenShift's driver forks and the upstream version that each
# stands on: every first-parent commit of the release branches, so that any
# commit that a payload names is found. openshift is the first minor whose
# branch has it. Written by internal/catalog/generate; do not edit.
`

const releasesHead = `# What each OpenShift minor ships. drivers is written by
# internal/catalog/generate from the forks' histories, the rest by hand.
`

// read reads what is there; a missing file is an empty one.
func read[T any](path string) (T, error) {
	var f T
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("read what is there: %w", err)
	}
	if err := k8syaml.UnmarshalStrict(text, &f); err != nil {
		return f, fmt.Errorf("read %s: %w", path, err)
	}
	return f, nil
}

// render writes v as YAML with the fields in the order of its type. Mappings
// for which flat says yes take one line.
func render(v any, flat func(*yaml.Node) bool) (string, error) {
	// JSON is YAML, and encoding/json keeps the order of fields, which
	// sigs.k8s.io/yaml doesn't.
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("render: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return "", fmt.Errorf("render: %w", err)
	}
	restyle(&doc, flat)
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(&doc); err != nil {
		return "", fmt.Errorf("render: %w", err)
	}
	return out.String(), e.Close()
}

// restyle drops JSON's quotes and braces. yaml puts quotes back where it would
// read a string as something else, such as 4.10; commits keep theirs, since
// parsers don't agree on what 12345e678901 is.
func restyle(n *yaml.Node, flat func(*yaml.Node) bool) {
	n.Style = 0
	if n.Kind == yaml.MappingNode && flat(n) {
		n.Style = yaml.FlowStyle
	}
	for i, child := range n.Content {
		restyle(child, flat)
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "commit" {
			child.Style = yaml.DoubleQuotedStyle
		}
	}
}

// has tells whether a mapping has a key.
func has(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

// replace writes a file whole or not at all. A comment at the top of an old one
// stays.
func replace(path, head, body string) error {
	if old, err := os.ReadFile(path); err == nil {
		if kept := comment(string(old)); kept != "" {
			head = kept
		}
	}
	return atomicfs.WriteFile(path, []byte(head+body))
}

// comment is the block of comment lines that text begins with.
func comment(text string) string {
	end := 0
	for _, line := range strings.SplitAfter(text, "\n") {
		if !strings.HasPrefix(line, "#") {
			break
		}
		end += len(line)
	}
	return text[:end]
}
