package mustgather

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/kube"
	"github.com/winbake/winbake/internal/shell"
)

// again fixes a file that can't be read.
const again = "gather it again, or copy it again from where it is whole"

type namespace struct {
	// inspected: `oc adm inspect ns/...` went through it.
	inspected bool
	// lists are the resources of which there is a file with all of them.
	lists map[string]bool
}

type tally struct {
	count  int
	broken int // files or objects that couldn't be read
}

type reader struct {
	c    *kube.Collector
	top  string
	runs runs
	// several: more than one run was met, and nothing is read any more.
	several bool
	// first is the first root; evidence leaves it out.
	first  string
	rooted bool
	// standard: the script of openshift/must-gather gathered.
	standard bool
	cut      bool
	files    int
	objects  int
	maxFile  int64
	seen     map[string]bool
	tallies  map[string]*tally
	csiNodes map[string]bool
	// listed are the cluster-scoped resources of which there is a file with all.
	listed map[string]bool
	// groups are the API groups that cluster-scoped-resources has a folder of.
	groups []string
	// namespaces are those that anything mentions.
	namespaces map[string]*namespace
	logs       []proxyFile
}

type proxyFile struct {
	name  string
	lines []versionLine
}

func newReader(c *kube.Collector, top string) *reader {
	r := &reader{
		c: c, top: top, maxFile: maxFile, seen: map[string]bool{}, tallies: map[string]*tally{},
		csiNodes: map[string]bool{}, listed: map[string]bool{}, namespaces: map[string]*namespace{},
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
	case p.role == script && in != nil:
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
	} else if group, _, ok := strings.Cut(p.resource, "/"); ok && !slices.Contains(r.groups, group) {
		r.groups = append(r.groups, group)
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
	r.problem(p.resource, r.inside(name), infile.Cause(err), again)
	return nil
}

// skip is told of a folder that can't be listed: anything may be in it.
func (r *reader) skip(name string, err error) {
	for resource := range r.tallies {
		r.tallies[resource].broken++
	}
	r.c.Problem(inventory.Problem{Where: name, What: "can't be listed: " + infile.Cause(err), Fix: "let this user read it", Command: "ls -ld " + shell.Word(r.top+"/"+name)})
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
	r.standard = r.standard || strings.TrimSpace(line) == "openshift/must-gather"
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
