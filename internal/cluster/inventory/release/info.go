package release

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// headings are the tables that oc prints, by its options; only that of --commits
// says what is needed: https://github.com/openshift/oc/blob/main/pkg/cli/admin/release/info.go
var headings = []string{
	commits, "NAME DIGEST", "NAME PULL SPEC", "NAME URL", "NAME AGE LAYERS SIZE MB UNIQUE MB", "NAME AGE LAYERS SIZE MB UNIQUE MB BASE",
}

const commits = "NAME REPO COMMIT"

// saveInfo is the command that any oc can answer with what Read needs.
const saveInfo = "oc adm release info --commits RELEASE > release.txt"

// heading is the heading of a table that a line is, "" for another line.
func heading(line string) string {
	line = strings.Join(strings.Fields(line), " ")
	if !slices.Contains(headings, line) {
		return ""
	}
	return line
}

// isInfo tells what `oc adm release info` prints for people, whole or only its
// table of images, from JSON and YAML.
func isInfo(src []byte) bool {
	for line := range bytes.Lines(src) {
		if heading(string(line)) != "" || bytes.HasPrefix(line, []byte("Name:")) {
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
	table   bool // in the table of images
	done    bool // past it
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
	table := heading(text)
	switch {
	case isName && (p.payload.Version != "" || p.table):
		return p.fault("a second release in one file", text)
	case isName:
		p.release(release, text)
	case text == "":
		p.done = len(p.payload.Tags) > 0
	case p.done: // warnings
	case p.table:
		return p.image(strings.Fields(text), text)
	case table != "" && table != commits:
		return p.fault("a table without commits", text)
	case table != "":
		p.table = true
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
	if !commitCells(cells[1:], &tag) {
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
