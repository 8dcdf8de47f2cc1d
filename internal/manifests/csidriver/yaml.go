package csidriver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// document is an object as YAML below a comment that says what it is for. Keys
// are sorted, so that the same object gives the same bytes.
func document(comment string, object any) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("write the object: %w", err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("read the object back: %w", err)
	}
	delete(tree, "status") // the cluster's to write
	prune(tree)
	body, err := yaml.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("write the object: %w", err)
	}
	var out bytes.Buffer
	for line := range strings.Lines(strings.TrimSpace(comment)) {
		out.WriteString("# " + strings.TrimSpace(line) + "\n")
	}
	out.Write(body)
	return out.Bytes(), nil
}

// prune drops what the types write of fields that weren't set.
func prune(tree map[string]any) {
	for key, value := range tree {
		switch v := value.(type) {
		case nil:
			delete(tree, key)
		case map[string]any:
			prune(v)
			if len(v) == 0 && key != "emptyDir" {
				delete(tree, key)
			}
		case []any:
			for _, item := range v {
				if m, ok := item.(map[string]any); ok {
					prune(m)
				}
			}
		}
	}
}
