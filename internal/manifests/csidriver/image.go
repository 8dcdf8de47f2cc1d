package csidriver

import (
	"fmt"
	"path"
	"strings"

	"github.com/distribution/reference"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/printable"
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
	digest, ok := m.digests.of(target)
	if !ok {
		digest, ok = m.digests.of(source)
	}
	if ok {
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
