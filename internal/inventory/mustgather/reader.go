package mustgather

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/kube"
)

// maxFile bounds a file of objects. A namespace with 10,000 pods has some
// 100 MB of them.
const maxFile = 512 << 20

// again mends a file that can't be read.
const again = "gather it again, or copy it again from where it is whole"

// namespace is what was seen of one.
type namespace struct {
	// inspected: `oc adm inspect ns/...` went through it.
	inspected bool
	// lists are the resources of which there is a file with all of them.
	lists map[string]bool
}

// tally is what was seen of one resource.
type tally struct {
	count  int
	broken int // files or objects that couldn't be read
}

// reader takes a must-gather in, file by file.
type reader struct {
	c    *kube.Collector
	top  string
	runs runs
	// several: more than one run was met, and nothing is read any more.
	several bool
	// first is the first root; evidence leaves it out.
	first    string
	rooted   bool
	script   string // of the file version: "openshift/must-gather"
	cut      bool
	files    int
	objects  int
	maxFile  int64
	seen     map[string]bool
	tallies  map[string]*tally
	nodes    map[string]bool
	csiNodes map[string]bool
	// namespaces are those that anything mentions.
	namespaces map[string]*namespace
	logs       []proxyFile
}

// proxyFile is one log of csi-proxy.
type proxyFile struct {
	name  string
	lines []versionLine
}

func newReader(c *kube.Collector, top string) *reader {
	r := &reader{
		c: c, top: top, maxFile: maxFile, seen: map[string]bool{}, tallies: map[string]*tally{},
		nodes: map[string]bool{}, csiNodes: map[string]bool{}, namespaces: map[string]*namespace{},
	}
	r.runs.top = top
	for resource := range kinds {
		r.tallies[resource] = &tally{}
	}
	return r
}

func (r *reader) archive() bool {
	info, err := os.Stat(r.top)
	return err == nil && !info.IsDir()
}

// visit takes one file or, with a nil reader, one folder.
func (r *reader) visit(name string, in io.Reader) error {
	p := locate(name)
	switch {
	case p.role == timestamp && in != nil:
		folder, _ := runOf(p.root)
		return r.survive(name, p, r.runs.time(folder, in))
	case p.role == script && in != nil && r.script == "":
		return r.survive(name, p, r.readScript(in))
	case p.role == timestamp || p.role == script || p.role == other && p.namespace == "":
		return nil
	}
	r.enter(p)
	if r.several || in == nil {
		return nil
	}
	switch p.role {
	case log:
		return r.survive(name, p, r.readLog(name, in))
	case object, list:
		return r.survive(name, p, r.readObjects(name, p, in))
	case other, timestamp, script:
	}
	return nil
}

// enter notes the root and the namespace of a path.
func (r *reader) enter(p place) {
	r.several = !r.runs.add(p.root) || r.several
	if !r.rooted {
		r.first, r.rooted = p.root, true
	}
	if p.namespace != "" {
		r.namespace(p.namespace)
	}
}

func (r *reader) namespace(name string) *namespace {
	n, ok := r.namespaces[name]
	if !ok {
		n = &namespace{lists: map[string]bool{}}
		r.namespaces[name] = n
	}
	return n
}

// survive makes a problem of a file that can't be read. That an archive broke
// inside of it ends the walk instead.
func (r *reader) survive(name string, p place, err error) error {
	if _, broken := errors.AsType[*readError](err); broken || err == nil {
		return err
	}
	r.problem(p.resource, r.inside(name), reason(err), again)
	return nil
}

// skip is told of a folder that can't be listed: anything may be in it.
func (r *reader) skip(name string, err error) {
	for resource := range r.tallies {
		r.tallies[resource].broken++
	}
	r.c.Problem(inventory.Problem{Where: name, What: "can't be listed: " + reason(err), Fix: "ls -ld " + r.top + "/" + name})
}

func (r *reader) problem(resource, where, what, fix string) {
	if t := r.tallies[resource]; t != nil {
		t.broken++
	}
	r.c.Problem(inventory.Problem{Where: where, What: what, Fix: fix})
}

// inside is a name as evidence gives it: below the first root.
func (r *reader) inside(name string) string {
	if r.first == "" {
		return name
	}
	return strings.TrimPrefix(name, r.first+"/")
}

// readScript takes the first line of a root's file version.
func (r *reader) readScript(in io.Reader) error {
	line, err := bufio.NewReader(io.LimitReader(in, 4<<10)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	r.script = strings.TrimSpace(line)
	return err
}

func (r *reader) readLog(name string, in io.Reader) error {
	plain, err := inflated(in)
	if err != nil {
		return err
	}
	r.files++
	lines, err := readProxyLog(plain)
	r.logs = append(r.logs, proxyFile{r.inside(name), newest(lines)})
	return err
}

// readObjects reads a file of one or more objects of a wanted kind.
func (r *reader) readObjects(name string, p place, in io.Reader) error {
	k, ok := kinds[p.resource]
	if !ok {
		return nil
	}
	if done := r.gathered(p); done || !r.c.Wants(k.apiVersion, k.kind) {
		return nil
	}
	plain, err := inflated(in)
	if err != nil {
		return err
	}
	src, err := io.ReadAll(io.LimitReader(plain, r.maxFile+1))
	if err != nil {
		return err
	}
	if int64(len(src)) > r.maxFile {
		return fmt.Errorf("larger than %d MiB", r.maxFile>>20)
	}
	r.files++
	docs, err := documents(r.inside(name), src, p.role == list)
	if err != nil {
		return err
	}
	for i := range docs {
		r.add(&docs[i], p, k)
	}
	return nil
}

// gathered notes what a file says about its namespace, and tells whether what
// is in it was read already.
func (r *reader) gathered(p place) bool {
	if p.namespace == "" {
		return false
	}
	n := r.namespace(p.namespace)
	if p.resource == "core/namespaces" {
		n.inspected = true
	}
	if p.role == list {
		n.lists[p.resource] = true
	}
	return p.pod && n.lists[p.resource]
}

// add hands an object on, the first of those with one name.
func (r *reader) add(d *document, p place, k kind) {
	if name := d.name(); name != "" && !r.c.WantsNamed(k.apiVersion, k.kind, name) {
		return
	}
	h, err := d.parse()
	if err != nil {
		where, what := d.fault(err)
		r.problem(p.resource, where, what, again)
		return
	}
	if h.Metadata.Namespace == "" && k.namespaced {
		h.Metadata.Namespace = p.namespace
	}
	key := p.resource + " " + h.Metadata.Namespace + "/" + h.Metadata.Name
	if r.seen[key] || !r.c.WantsNamed(k.apiVersion, k.kind, h.Metadata.Name) {
		return
	}
	r.seen[key] = true
	r.note(p, h)
	if err := r.c.Add(k.apiVersion, k.kind, k.decoder(d), d.locate); err != nil {
		r.problem(p.resource, d.locate(), reason(err), again)
		return
	}
	r.objects++
	r.tallies[p.resource].count++
}

// note keeps what coverage is told by.
func (r *reader) note(p place, h head) {
	switch p.resource {
	case "core/nodes":
		r.nodes[h.Metadata.Name] = true
	case "storage.k8s.io/csinodes":
		r.csiNodes[h.Metadata.Name] = true
	case "core/namespaces":
		r.namespace(h.Metadata.Name)
	case "core/persistentvolumes":
		if ns := h.Spec.ClaimRef.Namespace; ns != "" {
			r.namespace(ns)
		}
	case "core/configmaps":
		if !strings.HasPrefix(h.Metadata.Name, servicesPrefix) {
			r.tallies[p.resource].count--
		}
	}
}

// inflated undoes gzip, told by the first bytes: logs come both ways under
// one name.
func inflated(in io.Reader) (io.Reader, error) {
	br := bufio.NewReaderSize(in, 64<<10)
	start, err := br.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(start, []byte{0x1f, 0x8b}) {
		return br, nil
	}
	return gzip.NewReader(br)
}
