package csidriver

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/distribution/reference"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
)

// images turns the projects' images into those that are written: a mirror's,
// by digest.
type images struct {
	registry string
	digests  *Digests
	// missing are images without a digest, mirrored ones by the mirror's name.
	missing []string
	// flat is a digest whose mirror has cut the path.
	flat, wanted string
}

// newImages checks the mirror. sources are the images that will be asked for.
func newImages(registry string, digests *Digests, sources []string) (*images, error) {
	if registry == "" {
		return &images{digests: digests}, nil
	}
	named, err := reference.ParseNormalizedNamed(registry + "/x")
	if err != nil || strings.Contains(registry, "://") || named.Name() != registry+"/x" {
		return nil, &fault.Error{What: fmt.Sprintf("%q can't be a mirror", printable.Reference(registry)), Fix: "--registry HOST[:PORT][/FOLDER], without a scheme, credentials, a tag or a digest"}
	}
	for _, source := range sources {
		if where := repositoryPath(source); path.Base(registry) == path.Base(where) {
			return nil, &fault.Error{
				What: fmt.Sprintf("%s is an image's place, not a mirror that keeps the path of images: Windows nodes find a mirrored image by the path that it has at its source", registry),
				Fix:  fmt.Sprintf("mirror %s to HOST/FOLDER/%s, and --registry HOST/FOLDER", source, where),
			}
		}
	}
	return &images{registry: registry, digests: digests}, nil
}

// repositoryPath is an image's repository without its host:
// oss/kubernetes-csi/azuredisk-csi.
func repositoryPath(image string) string {
	_, rest, _ := strings.Cut(image, "/")
	rest, _, _ = strings.Cut(rest, ":")
	return rest
}

// at is the image to write for one of a project's. A digest that is asked for
// and isn't there is remembered.
func (m *images) at(source string, needed bool) string {
	target := source
	if m.registry != "" {
		_, rest, _ := strings.Cut(source, "/")
		target = m.registry + "/" + rest
	}
	if m.digests == nil {
		return target
	}
	if digest := cmp.Or(m.digests.images[target], m.digests.images[source]); digest != "" {
		return target + "@" + digest
	}
	if needed {
		m.missing = append(m.missing, target)
		if m.flat == "" {
			m.flat, m.wanted = m.digests.cut(source), target
		}
	}
	return target
}

func (m *images) err() error {
	if len(m.missing) == 0 {
		return nil
	}
	if m.flat != "" {
		return &fault.Error{
			Where: m.digests.name,
			What:  fmt.Sprintf("%s doesn't keep the path of its source: Windows nodes look for %s", m.flat, m.wanted),
			Fix:   "mirror the image to that place, and name it so",
		}
	}
	var commands []string
	for _, image := range m.missing {
		commands = append(commands, fmt.Sprintf("echo %s $(skopeo inspect --format '{{.Digest}}' docker://%s) >> %s", image, image, m.digests.name))
	}
	return &fault.Error{Where: m.digests.name, What: "no digest of " + strings.Join(m.missing, ", "), Fix: strings.Join(commands, "\n")}
}

// Digests are the digests of images.
type Digests struct {
	name   string
	images map[string]string // repository:tag to sha256:...
	order  []string
}

var (
	imageForm  = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._:-]*(/[a-z0-9._-]+)+:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// ParseDigests reads lines of an image and its digest,
// registry.k8s.io/csi-vsphere/driver:v3.5.0 sha256:..., or both joined by @.
// Empty lines and those that begin with # don't count. name is the file's, for
// errors, which are *fault.Error.
func ParseDigests(name string, text []byte) (*Digests, error) {
	d := &Digests{name: name, images: map[string]string{}}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		words := strings.Fields(strings.ReplaceAll(string(line), "@", " "))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		where := fmt.Sprintf("%s:%d", name, n)
		if len(words) != 2 || !imageForm.MatchString(words[0]) || !digestForm.MatchString(words[1]) {
			return nil, &fault.Error{Where: where, What: "the line isn't an image with its tag and a sha256 digest", Excerpt: printable.Clip(strings.TrimSpace(string(line))), Fix: "write registry.k8s.io/csi-vsphere/driver:v3.5.0 sha256:..."}
		}
		if known, twice := d.images[words[0]]; twice && known != words[1] {
			return nil, &fault.Error{Where: where, What: words[0] + " has two digests", Fix: "keep the line that is right"}
		} else if !twice {
			d.order = append(d.order, words[0])
		}
		d.images[words[0]] = words[1]
	}
	if len(d.order) == 0 {
		return nil, &fault.Error{Where: name, What: "there is no digest in it", Fix: "write lines such as registry.k8s.io/csi-vsphere/driver:v3.5.0 sha256:..."}
	}
	return d, nil
}

// file is its name, "" for none.
func (d *Digests) file() string {
	if d == nil {
		return ""
	}
	return d.name
}

// cut is a listed image that has the name and tag of another, and not its path;
// "" for none.
func (d *Digests) cut(image string) string {
	_, inside, _ := strings.Cut(image, "/")
	for _, listed := range d.order {
		if path.Base(listed) == path.Base(image) && !strings.HasSuffix(listed, "/"+inside) {
			return listed
		}
	}
	return ""
}
