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

	"github.com/distribution/reference"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
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

// CheckNamespace refuses a namespace that can't be one of an admin's own; usual is the one
// that is taken unless another is given.
func CheckNamespace(name, usual string) error {
	switch {
	case !ValidNamespace(name):
		return &fault.Error{What: fmt.Sprintf("%q can't be a namespace", name), Fix: "--namespace, in lower-case letters, digits and dashes"}
	case ClustersOwn(name):
		return &fault.Error{What: name + " is the cluster's own", Fix: "--namespace, one of yours or a new one; or leave it out for " + usual}
	}
	return nil
}

// CheckImage refuses an image that no node could pull, or that would tell everybody a
// password. pinned: it is named by its digest.
func CheckImage(image, fix string) (pinned bool, err error) {
	if image == "" {
		return false, &fault.Error{What: "no image to run", Fix: fix}
	}
	if shown := printable.Reference(image); shown != image {
		return false, &fault.Error{What: shown + " holds credentials, and the manifests are for everybody to read", Fix: "leave them out, and give them to the cluster: oc create secret docker-registry"}
	}
	ref, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return false, &fault.Error{What: fmt.Sprintf("%q can't be an image: %v", image, err), Fix: fix, Err: err}
	}
	_, pinned = ref.(reference.Digested)
	return pinned, nil
}

// Files are the documents of a text, each below its name, a comment and an empty line.
// What stands before the first is for who reads the text. by is the command that writes
// them.
func Files(text, by string) ([]File, error) {
	var files []File
	for _, doc := range strings.Split(text, "\n---\n")[1:] {
		head, body, _ := strings.Cut(doc, "\n\n")
		name, comment, _ := strings.Cut(strings.ReplaceAll("\n"+head, "\n# ", "\n")[1:], "\n")
		var tree map[string]any
		if err := yaml.Unmarshal([]byte(body), &tree); err != nil {
			return nil, fmt.Errorf("read the manifest %s: %w", name, err)
		}
		data, err := Document(comment+"\nWritten by "+by+".", tree)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: name + ".yaml", Data: data})
	}
	return files, nil
}
