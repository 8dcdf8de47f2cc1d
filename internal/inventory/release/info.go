package release

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/inventory"
)

// heading is that of a table of images, which oc prints by its options, or "":
// https://github.com/openshift/oc/blob/main/pkg/cli/admin/release/info.go
func heading(line string) string {
	if text := strings.Join(strings.Fields(line), " "); strings.HasPrefix(text, "NAME ") {
		return text
	}
	return ""
}

// isInfo tells what `oc adm release info` prints for people, whole or only its
// table of images, from JSON and YAML.
func isInfo(src []byte) bool {
	for line := range bytes.Lines(src) {
		if text := string(line); strings.HasPrefix(text, "Name:") || heading(text) != "" {
			return true
		} else if strings.HasPrefix(text, "{") {
			return false
		}
	}
	return false
}

// infoParser reads the text line by line.
type infoParser struct {
	name        string
	line        int
	table, done bool // in the table of images, or past it
	payload     inventory.Payload
}

func parseInfo(name string, src []byte) (inventory.Payload, error) {
	p := &infoParser{name: name, payload: inventory.Payload{At: inventory.Evidence{Where: name}}}
	s := bufio.NewScanner(bytes.NewReader(src))
	s.Buffer(nil, maxText)
	for s.Scan() {
		p.line++
		if err := p.read(s.Text()); err != nil {
			return inventory.Payload{}, err
		}
	}
	if err := s.Err(); err != nil {
		return inventory.Payload{}, fmt.Errorf("read %s: %w", name, err)
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
	switch {
	case isName && (p.payload.Version != "" || p.table):
		return p.fault("a second release in one file", text)
	case isName:
		p.release(release, text)
	case text == "":
		p.done = len(p.payload.Tags) > 0
	case p.done: // warnings
	case p.table:
		return p.row(text)
	case heading(text) == "NAME REPO COMMIT":
		p.table = true
	case heading(text) != "":
		return p.fault("a table of images without the commits that they are built from", text)
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

// row reads one image: NAME, REPO and COMMIT, of which the latter may be empty. A
// commit that was cut short is a fault: half a file that passed for a whole one
// would lack drivers.
func (p *infoParser) row(text string) error {
	cells := strings.Fields(text)
	tag := inventory.PayloadTag{Name: cells[0]}
	cells = cells[1:]
	if n := len(cells); n > 0 && fullCommit(cells[n-1]) != "" {
		tag.Commit, cells = cells[n-1], cells[:n-1]
	} else if n > 0 && !strings.Contains(cells[n-1], "://") {
		return p.fault("not a whole row of the table of images", text)
	}
	switch len(cells) {
	case 0:
	case 1:
		tag.Source = cells[0]
	default:
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
