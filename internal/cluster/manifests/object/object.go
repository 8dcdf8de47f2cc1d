// Package object writes Kubernetes objects as files that people read and apply:
// one object a file, below a comment on what it is for. What the objects are,
// its users know.
package object

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// File is one object and what it is for.
type File struct {
	Name string // 08-daemonset.yaml, or in a folder below: example/09-storageclass.yaml
	Data []byte
}

// Document is an object as YAML below a comment that says what it is for. Keys
// are sorted, so that the same object gives the same bytes. Status, and what
// wasn't set, is left out.
func Document(comment string, object any) ([]byte, error) {
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

// namespaceForm is an RFC 1123 label, as Kubernetes takes it for a namespace.
var namespaceForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// ValidNamespace tells whether Kubernetes takes a name for a namespace.
func ValidNamespace(name string) bool { return namespaceForm.MatchString(name) }

// ClustersOwn tells whether a namespace is Kubernetes' or OpenShift's.
func ClustersOwn(namespace string) bool {
	return namespace == "default" || strings.HasPrefix(namespace, "kube-") || strings.HasPrefix(namespace, "openshift")
}
