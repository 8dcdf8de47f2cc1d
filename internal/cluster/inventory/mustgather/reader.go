package mustgather

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

// again fixes a file that can't be read.
const again = "gather it again, or copy it again from where it is whole"

type namespace struct {
	// inspected: `oc adm inspect ns/...` went through it.
	inspected bool
	// lists are the resources of which there is a file with all of them.
	lists map[string]bool
}

type reader struct {
	c    *kube.Collector
	top  string
	runs runs
	// several: more than one run was met, and nothing is read any more.
	several bool
	// first is the first root; evidence leaves it out.
	first string
	// standard: the script of openshift/must-gather gathered.
	standard bool
	cut      bool
	files    int
	objects  int
	maxFile  int64
	seen     map[string]bool
	broken   map[string]int // by resource: files or objects that couldn't be read
	csiNodes map[string]bool
	// listed are the cluster-scoped resources of which there is a file with all.
	listed map[string]bool
	// groups are the API groups that cluster-scoped-resources has a folder of.
	groups []string
	// namespaces are those that anything mentions.
	namespaces map[string]*namespace
}

func newReader(c *kube.Collector, top string) *reader {
	return &reader{
		c: c, top: top, runs: runs{top, map[string]bool{}, map[string]string{}}, maxFile: maxFile, seen: map[string]bool{}, broken: map[string]int{},
		csiNodes: map[string]bool{}, listed: map[string]bool{}, namespaces: map[string]*namespace{},
	}
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

func (r *reader) enter(p place) {
	if len(r.runs.named) == 0 {
		r.first = p.root
	}
	r.several = !r.runs.add(p.root) || r.several
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
	for resource := range kinds {
		r.broken[resource]++
	}
	r.c.Problem(inventory.Problem{Where: name, What: "can't be listed: " + infile.Cause(err), Fix: "let this user read it", Command: "ls -ld " + shell.Word(r.top+"/"+name)})
}

func (r *reader) problem(resource, where, what, fix string) {
	r.broken[resource]++
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
	for _, l := range lines {
		r.c.CSIProxyLog(l.node, l.text, inventory.Evidence{Where: fmt.Sprintf("%s:%d", r.inside(name), l.line), Text: l.text})
	}
	return err
}

type versionLine struct {
	// node is the name in front of the line, "" where there is none.
	node string
	line int
	// text is "Version: v1.1.3-34-g5cb6e2d".
	text string
}

// versionText matches the line that csi-proxy writes when it starts
// (https://github.com/kubernetes-csi/csi-proxy/blob/master/cmd/csi-proxy/main.go),
// behind klog's header. `oc adm node-logs` puts the node's name and a space in
// front of every line when it was asked by a selector, as the gather script
// asks it: https://github.com/openshift/oc/blob/main/pkg/cli/admin/node/logs.go
var versionText = regexp.MustCompile(`^(?:([a-z0-9][a-z0-9.-]*) )?[IWEF][0-9]{4} [^\]]*\] (Version: ?\S*)\s*$`)

// maxLine is how much of a line is looked at. The one that is wanted has some
// 100 bytes.
const maxLine = 4 << 10

// readProxyLog reads the log as a stream: it grows without bound on a node.
func readProxyLog(r io.Reader) ([]versionLine, error) {
	var found []versionLine
	br := bufio.NewReaderSize(r, maxLine)
	for line := 1; ; line++ {
		text, err := nextLine(br)
		if bytes.Contains(text, []byte("] Version:")) {
			if m := versionText.FindSubmatch(text); m != nil {
				found = append(found, versionLine{node: string(m[1]), line: line, text: string(m[2])})
			}
		}
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
	}
}

func nextLine(br *bufio.Reader) ([]byte, error) {
	head, err := br.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return head, err
	}
	head = bytes.Clone(head)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = br.ReadSlice('\n')
	}
	return head, err
}
