package csidriver

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/printable"
)

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

// maxDigests is more than any such file has, in bytes.
const maxDigests = 1 << 20

// ParseDigests reads lines of an image and its digest,
// registry.k8s.io/csi-vsphere/driver:v3.5.0 sha256:..., or both joined by @.
// Empty lines and those that begin with # don't count. name is the file's, for
// errors, which are *fault.Error.
func ParseDigests(name string, text []byte) (*Digests, error) {
	if len(text) > maxDigests {
		return nil, &fault.Error{Where: name, What: fmt.Sprintf("%d bytes are too many for a list of digests", len(text)), Fix: "give a file of lines IMAGE:TAG sha256:..."}
	}
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

func (d *Digests) of(image string) (string, bool) {
	digest, ok := d.images[image]
	return digest, ok
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
