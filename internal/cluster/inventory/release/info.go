package release

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// row reads the cells of an image behind its name; false when they aren't whole.
type row func(cells []string, tag *inventory.PayloadTag) bool

// headings are the tables that oc prints, by its options; those of sizes say nothing
// that is needed: https://github.com/openshift/oc/blob/main/pkg/cli/admin/release/info.go
var headings = map[string]row{
	"NAME DIGEST":                            digestCell,
	"NAME PULL SPEC":                         pullSpecCell,
	"NAME REPO COMMIT":                       commitCells,
	"NAME URL":                               urlCells,
	"NAME AGE LAYERS SIZE MB UNIQUE MB":      nil,
	"NAME AGE LAYERS SIZE MB UNIQUE MB BASE": nil,
}

// saveInfo is the command that any oc can answer with what Read needs.
const saveInfo = "oc adm release info --commits RELEASE > release.txt"

func heading(line string) (r row, ok bool) {
	r, ok = headings[strings.Join(strings.Fields(line), " ")]
	return r, ok
}

// isInfo tells what `oc adm release info` prints for people, whole or only its
// table of images, from JSON and YAML.
func isInfo(src []byte) bool {
	for line := range bytes.Lines(src) {
		if _, ok := heading(string(line)); ok || bytes.HasPrefix(line, []byte("Name:")) {
			return true
		}
		if bytes.HasPrefix(line, []byte("{")) {
			return false
		}
	}
	return false
}

type infoParser struct {
	name    string
	line    int
	row     row  // of the table of images, once its heading was read
	done    bool // past the table of images
	payload inventory.Payload
}

func parseInfo(name string, src []byte) (inventory.Payload, error) {
	p := &infoParser{name: name, payload: inventory.Payload{At: inventory.Evidence{Where: name}}}
	for line := range bytes.Lines(src) {
		p.line++
		if err := p.read(string(line)); err != nil {
			return inventory.Payload{}, err
		}
	}
	if len(p.payload.Tags) == 0 {
		return inventory.Payload{}, &fault.Error{
			What: "ends before its list of images", Where: name, Fix: "save it again: " + saveInfo,
		}
	}
	return finish(p.payload)
}

func (p *infoParser) read(line string) error {
	text := strings.TrimSpace(line)
	release, isName := strings.CutPrefix(line, "Name:")
	row, isHeading := heading(text)
	switch {
	case isName && (p.payload.Version != "" || p.row != nil):
		return p.fault("a second release in one file", text)
	case isName:
		p.release(release, text)
	case text == "":
		p.done = len(p.payload.Tags) > 0
	case p.done: // warnings
	case p.row != nil:
		return p.image(strings.Fields(text), text)
	case isHeading && row == nil:
		return p.fault("a table of sizes, without commits, digests or pull specs", text)
	case isHeading:
		p.row = row
	default:
		p.field(text)
	}
	return nil
}

func (p *infoParser) release(version, text string) {
	p.payload.Version = strings.TrimSpace(version)
	p.payload.At = inventory.Evidence{Where: fmt.Sprintf("%s:%d", p.name, p.line), Text: text}
}

// field reads a line above the images: the architecture, of Release Metadata its
// version, of Component Versions that of Kubernetes.
func (p *infoParser) field(text string) {
	if version, ok := strings.CutPrefix(text, "Version:"); ok {
		p.release(version, text)
	}
	if platform, ok := strings.CutPrefix(text, "OS/Arch:"); ok {
		_, p.payload.Architecture, _ = strings.Cut(strings.TrimSpace(platform), "/")
	}
	if f := strings.Fields(text); len(f) > 1 && strings.EqualFold(f[0], "kubernetes") {
		p.payload.Kubernetes = f[1]
	}
}

// image reads one image. A cell that was cut short is a fault: half a file that
// passed for a whole one would lack drivers.
func (p *infoParser) image(cells []string, text string) error {
	tag := inventory.PayloadTag{Name: cells[0]}
	if !p.row(cells[1:], &tag) {
		return p.fault("not a whole row of the table of images", text)
	}
	p.payload.Tags = append(p.payload.Tags, tag)
	return nil
}

func (p *infoParser) fault(what, text string) error {
	return &fault.Error{
		What: what, Where: fmt.Sprintf("%s:%d", p.name, p.line), Excerpt: fmt.Sprintf("%d | %s", p.line, text),
		Fix: "save it again: " + saveInfo,
	}
}

var (
	commitURL = regexp.MustCompile(`^(https://.+)/commit/([0-9a-f]{40})$`)
	digest    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// digestCell reads a digest; oc prints the pull spec of an image that has none.
func digestCell(cells []string, tag *inventory.PayloadTag) bool {
	if len(cells) == 1 && digest.MatchString(cells[0]) {
		tag.Image = inventory.Image{Reference: cells[0], Digest: cells[0]}
		return true
	}
	return pullSpecCell(cells, tag)
}

func pullSpecCell(cells []string, tag *inventory.PayloadTag) bool {
	if len(cells) != 1 || strings.HasPrefix(cells[0], "sha256:") {
		return false
	}
	tag.Image, _ = podtext.ParseImage(cells[0])
	return tag.Image.Repository != ""
}

// commitCells reads REPO and COMMIT; either may be empty.
func commitCells(cells []string, tag *inventory.PayloadTag) bool {
	switch len(cells) {
	case 0:
		return true
	case 1:
		if tag.Commit = fullCommit(cells[0]); tag.Commit != "" {
			return true
		}
		tag.Source = cells[0]
		return strings.Contains(cells[0], "://")
	case 2:
		tag.Source, tag.Commit = cells[0], fullCommit(cells[1])
		return tag.Commit != ""
	}
	return false
}

// urlCells reads a link to the commit, or for a repository outside of GitHub
// its place and the commit.
func urlCells(cells []string, tag *inventory.PayloadTag) bool {
	if len(cells) == 1 {
		if m := commitURL.FindStringSubmatch(cells[0]); m != nil {
			tag.Source, tag.Commit = m[1], m[2]
			return true
		}
	}
	return commitCells(cells, tag) && tag.Commit != ""
}
