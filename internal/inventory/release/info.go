package release

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/podtext"
)

// columns is what a row of the table of images has in addition to the name.
type columns int

const (
	noColumns columns = iota
	digests
	pullSpecs
	commits
	commitURLs
	sizes
)

// headings are the tables that oc prints, by its options:
// https://github.com/openshift/oc/blob/main/pkg/cli/admin/release/info.go
var headings = map[string]columns{
	"NAME DIGEST":                            digests,
	"NAME PULL SPEC":                         pullSpecs,
	"NAME REPO COMMIT":                       commits,
	"NAME URL":                               commitURLs,
	"NAME AGE LAYERS SIZE MB UNIQUE MB":      sizes,
	"NAME AGE LAYERS SIZE MB UNIQUE MB BASE": sizes,
}

// maxText bounds a file that is read whole. Those of OpenShift 4.20 have some
// 150 KiB, `oc adm release info -o json` of one has under 2 MiB.
const maxText = 32 << 20

// saveInfo is the command that any oc can answer with what Read needs.
const saveInfo = "oc adm release info --commits RELEASE > release.txt"

func heading(line []byte) columns {
	return headings[string(bytes.Join(bytes.Fields(line), []byte(" ")))]
}

// isInfo tells what `oc adm release info` prints for people, whole or only its
// table of images, from JSON and YAML.
func isInfo(src []byte) bool {
	for line := range bytes.Lines(src) {
		if bytes.HasPrefix(line, []byte("Name:")) || heading(line) != noColumns {
			return true
		}
		if bytes.HasPrefix(line, []byte("{")) {
			return false
		}
	}
	return false
}

// infoParser reads the text line by line.
type infoParser struct {
	name    string
	line    int
	columns columns
	done    bool // past the table of images
	payload inventory.Payload
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
	case isName && (p.payload.Version != "" || p.columns != noColumns):
		return p.fault("a second release in one file", text)
	case isName:
		p.release(release, text)
	case text == "":
		p.done = len(p.payload.Tags) > 0
	case p.done: // warnings
	case p.columns != noColumns:
		return p.row(text)
	case heading([]byte(text)) == sizes:
		return p.fault("a table of sizes, without commits, digests or pull specs", text)
	case heading([]byte(text)) != noColumns:
		p.columns = heading([]byte(text))
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

// row reads one image. A cell that was cut short is a fault: half a file that
// passed for a whole one would lack drivers.
func (p *infoParser) row(text string) error {
	f := strings.Fields(text)
	tag, ok := p.columns.tag(f[0], f[1:])
	if !ok {
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

// tag reads the cells of a row after its name; false when they aren't whole.
func (c columns) tag(name string, cells []string) (tag inventory.PayloadTag, ok bool) {
	tag.Name = name
	switch c {
	case digests:
		tag.Image, ok = digestCell(cells)
	case pullSpecs:
		tag.Image, ok = pullSpecCell(cells)
	case commits:
		tag.Source, tag.Commit, ok = commitCells(cells)
	case commitURLs:
		tag.Source, tag.Commit, ok = urlCells(cells)
	case noColumns, sizes:
	}
	return tag, ok
}

// digestCell reads a digest; oc prints the pull spec of an image that has none.
func digestCell(cells []string) (inventory.Image, bool) {
	if len(cells) == 1 && digest.MatchString(cells[0]) {
		return inventory.Image{Reference: cells[0], Digest: cells[0]}, true
	}
	return pullSpecCell(cells)
}

func pullSpecCell(cells []string) (inventory.Image, bool) {
	if len(cells) != 1 || strings.HasPrefix(cells[0], "sha256:") {
		return inventory.Image{}, false
	}
	i, _ := podtext.ParseImage(cells[0])
	return i, i.Repository != ""
}

// commitCells reads REPO and COMMIT; either may be empty.
func commitCells(cells []string) (source, commit string, ok bool) {
	switch len(cells) {
	case 0:
		return "", "", true
	case 1:
		if c := fullCommit(cells[0]); c != "" {
			return "", c, true
		}
		return cells[0], "", strings.Contains(cells[0], "://")
	case 2:
		c := fullCommit(cells[1])
		return cells[0], c, c != ""
	}
	return "", "", false
}

// urlCells reads a link to the commit, or for a repository outside of GitHub
// its place and the commit.
func urlCells(cells []string) (source, commit string, ok bool) {
	if len(cells) == 1 {
		if m := commitURL.FindStringSubmatch(cells[0]); m != nil {
			return m[1], m[2], true
		}
	}
	source, commit, ok = commitCells(cells)
	return source, commit, ok && commit != ""
}
