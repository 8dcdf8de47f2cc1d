package release

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
	"github.com/winbake/winbake/internal/image/oci"
)

// versionsAnnotation is a tag's, made by `oc adm release new`; see oci.KeyCommit.
const versionsAnnotation = "io.openshift.build.versions"

type imageStream struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Tags []streamTag `json:"tags"`
	} `json:"spec"`
}

type streamTag struct {
	Name        string            `json:"name"`
	Annotations map[string]string `json:"annotations"`
	From        *struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"from"`
}

// document is an image-references file, or what `oc adm release info -o json`
// prints, which holds one as references.
type document struct {
	imageStream
	References *imageStream `json:"references"`
}

// Parse reads an image-references file (JSON or YAML) or the output of
// `oc adm release info`. name is in errors and in the payload's evidence.
func Parse(name string, src []byte) (inventory.Payload, error) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if isInfo(src) {
		return parseInfo(name, src)
	}
	d, err := decode(name, src)
	if err != nil {
		return inventory.Payload{}, err
	}
	stream := &d.imageStream
	if d.References != nil {
		stream = d.References
	}
	return stream.payload(name)
}

// decode reads JSON, which is YAML, and YAML.
func decode(name string, src []byte) (document, error) {
	var d document
	if len(bytes.TrimSpace(src)) == 0 {
		return d, notReferences(name, "empty")
	}
	if err := yaml.Unmarshal(src, &d); err != nil {
		return d, unparsed(name, err)
	}
	return d, nil
}

func unparsed(name string, err error) error {
	what := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "error unmarshaling JSON: while decoding JSON: ", "yaml: ", "json: "} {
		what = strings.TrimPrefix(what, prefix)
	}
	return notReferences(name, "not an ImageStream, or cut off: "+what)
}

func notReferences(where, what string) error {
	return &fault.Error{
		What: what, Where: where,
		Fix: "give a release's image-references file, or save one: " + saveInfo,
	}
}

func (s *imageStream) payload(name string) (inventory.Payload, error) {
	p := inventory.Payload{Version: s.Metadata.Name, At: inventory.Evidence{Where: name, Text: s.Metadata.Name}}
	if s.Kind != "" && s.Kind != "ImageStream" {
		return p, notReferences(name, "a "+s.Kind+", not an ImageStream")
	}
	if len(s.Spec.Tags) == 0 {
		return p, notReferences(name, "lists no images (no spec.tags)")
	}
	for i, t := range s.Spec.Tags {
		if t.Name == "" {
			return p, notReferences(name, fmt.Sprintf("spec.tags[%d] has no name", i))
		}
		p.Tags = append(p.Tags, t.tag())
	}
	return finish(p)
}

func (t streamTag) tag() inventory.PayloadTag {
	tag := inventory.PayloadTag{
		Name: t.Name, Commit: fullCommit(t.Annotations[oci.KeyCommit]),
		Source: t.Annotations[oci.KeySourceLocation], Kubernetes: kubernetesOf(t.Annotations[versionsAnnotation]),
	}
	if t.From != nil && t.From.Kind == "DockerImage" {
		tag.Image, _ = podtext.ParseImage(t.From.Name) // what can't be read keeps its text
	}
	return tag
}

// kubernetesOf finds the version of Kubernetes in a list such as
// "kubernetes=1.33.5,kubectl=1.33.5,machine-os=9.6,machine-os=10.0". A key may
// are there several times.
func kubernetesOf(list string) string {
	var found []string
	for pair := range strings.SplitSeq(list, ",") {
		if value, ok := strings.CutPrefix(strings.TrimSpace(pair), "kubernetes="); ok {
			found = append(found, value)
		}
	}
	return theOne(found)
}

// theOne is what all texts that aren't empty say; "" where they differ.
func theOne(texts []string) string {
	slices.Sort(texts)
	texts = slices.DeleteFunc(slices.Compact(texts), func(s string) bool { return s == "" })
	if len(texts) != 1 {
		return ""
	}
	return texts[0]
}

// finish sorts the tags, takes the version of Kubernetes from them and refuses
// two tags of one name: which of two commits is the release's can't be told.
func finish(p inventory.Payload) (inventory.Payload, error) {
	slices.SortStableFunc(p.Tags, func(a, b inventory.PayloadTag) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(p.Tags); i++ {
		if p.Tags[i].Name == p.Tags[i-1].Name {
			return p, &fault.Error{
				What: fmt.Sprintf("lists %s twice", p.Tags[i].Name), Where: p.At.Where,
				Fix: "save it again: " + saveInfo,
			}
		}
	}
	if p.Kubernetes == "" {
		var named []string
		for _, t := range p.Tags {
			named = append(named, t.Kubernetes)
		}
		p.Kubernetes = theOne(named)
	}
	return p, nil
}

var commitName = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// fullCommit returns s when it is a whole object name of git, and nothing for
// what is cut short, which could mean another commit.
func fullCommit(s string) string { return commitName.FindString(s) }
