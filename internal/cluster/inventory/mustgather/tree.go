package mustgather

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
)

// maxEntries bounds the files and folders of one must-gather. One of a cluster
// of 500 nodes has some 200,000.
const maxEntries = 20_000_000

// visitor is handed every regular file, once, and every folder with a nil
// reader. name is slash-separated, clean and below the top.
type visitor func(name string, r io.Reader) error

type skipper func(name string, err error)

func walk(ctx context.Context, top string, visit visitor, skip skipper) error {
	info, err := os.Stat(top)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &fault.Error{
			What: "no such file or folder", Where: top, Err: fs.ErrNotExist,
			Fix: "oc adm must-gather, and give the folder that it made, or an archive of it",
		}
	case err != nil:
		return unreadable(top, err)
	case info.IsDir():
		return walkFolder(ctx, top, visit, skip)
	case !info.Mode().IsRegular():
		return &fault.Error{
			What: "neither a folder nor a regular file (" + info.Mode().Type().String() + ")", Where: top,
			Fix: "give the folder that `oc adm must-gather` made, or an archive of it",
		}
	}
	return walkArchive(ctx, top, visit)
}

// walkFolder follows no links: one that leads out of the must-gather isn't
// part of it.
func walkFolder(ctx context.Context, top string, visit visitor, skip skipper) error {
	n := 0
	return filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if n++; n > maxEntries {
			return tooMany(top)
		}
		name, rerr := filepath.Rel(top, file)
		if rerr != nil {
			return rerr
		}
		name = filepath.ToSlash(name)
		switch {
		case name == "." && err != nil:
			return unreadable(top, err)
		case err != nil:
			skip(name, err)
			return nil
		case name == ".":
			return nil
		case d.IsDir():
			return visit(name, nil)
		case !d.Type().IsRegular():
			return nil
		}
		l := &lazyFile{path: file}
		return errors.Join(visit(name, l), l.close())
	})
}

// lazyFile opens at the first read: of a must-gather's files few are wanted.
type lazyFile struct {
	path string
	f    *os.File
}

func (l *lazyFile) Read(p []byte) (int, error) {
	if l.f == nil {
		f, err := os.Open(l.path)
		if err != nil {
			return 0, err
		}
		l.f = f
	}
	return l.f.Read(p)
}

func (l *lazyFile) close() error {
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}

func notArchive(file, what, fix string) error {
	return &fault.Error{What: what, Where: file, Fix: fix}
}

func tooMany(top string) error {
	return &fault.Error{
		What: fmt.Sprintf("more than %d files, which no must-gather has", maxEntries), Where: top,
		Fix: "give the folder must-gather.local.* itself",
	}
}

func unreadable(file string, err error) error {
	return &fault.Error{What: "can't be read: " + infile.Cause(err), Where: file, Err: err, Fix: "ls -ld " + shell.Word(file)}
}

// The folders by which a must-gather is known, and below which `oc adm
// inspect` writes: https://github.com/openshift/oc/tree/main/pkg/cli/admin/inspect
const (
	clusterFolder   = "cluster-scoped-resources"
	namespaceFolder = "namespaces"
)

// proxyLog is csi-proxy's log as gather_windows_node_logs writes it:
// https://github.com/openshift/must-gather/blob/main/collection-scripts/gather_windows_node_logs
const proxyLog = "host_service_logs/windows/log_files/csi-proxy/csi-proxy.log"

type role int

const (
	other     role = iota
	object         // one object: .../nodes/worker-1.yaml
	list           // all objects of a kind: .../core/pods.yaml
	log            // csi-proxy's log
	timestamp      // when it was gathered
	script         // which script gathered: "openshift/must-gather"
)

// place is a file's path inside a must-gather, taken apart.
type place struct {
	role role
	// root is the folder that cluster-scoped-resources or namespaces are in,
	// "" for the top.
	root string
	// namespace is "" for what is cluster-scoped.
	namespace string
	// resource is group/plural, core/pods; "" for what isn't a resource.
	resource string
	// pod: one of the files pods/<pod>/<pod>.yaml, which repeat core/pods.yaml.
	pod bool
}

// locate takes a clean, slash-separated path apart.
func locate(name string) place {
	var p place
	bare := strings.TrimSuffix(name, ".gz")
	if bare == proxyLog || strings.HasSuffix(bare, "/"+proxyLog) {
		p.role, p.root = log, strings.TrimSuffix(strings.TrimSuffix(bare, proxyLog), "/")
		return p
	}
	parts := strings.Split(bare, "/")
	for i, part := range parts {
		switch part {
		case clusterFolder:
			p.root = strings.Join(parts[:i], "/")
			p.inGroup(parts[i+1:])
			return p
		case namespaceFolder:
			p.root = strings.Join(parts[:i], "/")
			p.inNamespace(parts[i+1:])
			return p
		}
	}
	switch dir, file := path.Split(bare); file {
	case "timestamp":
		p.role, p.root = timestamp, strings.TrimSuffix(dir, "/")
	case "version":
		p.role, p.root = script, strings.TrimSuffix(dir, "/")
	}
	return p
}

// inNamespace reads what follows namespaces/.
func (p *place) inNamespace(parts []string) {
	if len(parts) == 0 {
		return
	}
	p.namespace = parts[0]
	rest := parts[1:]
	switch {
	case len(rest) == 1 && trimYAML(rest[0]) == p.namespace:
		p.role, p.resource = object, "core/namespaces"
	case len(rest) == 3 && rest[0] == "pods" && trimYAML(rest[2]) == rest[1]:
		p.role, p.resource, p.pod = object, "core/pods", true
	default:
		p.inGroup(rest)
	}
}

// inGroup reads group/plural.yaml or group/plural/name.yaml.
func (p *place) inGroup(parts []string) {
	switch len(parts) {
	case 2:
		if plural := trimYAML(parts[1]); plural != "" {
			p.role, p.resource = list, parts[0]+"/"+plural
		}
	case 3:
		if trimYAML(parts[2]) != "" {
			p.role, p.resource = object, parts[0]+"/"+parts[1]
		}
	}
}

// trimYAML cuts the extension off; "" for another. JSON is YAML too.
func trimYAML(file string) string {
	for _, ext := range []string{".yaml", ".yml", ".json"} {
		if stem, ok := strings.CutSuffix(file, ext); ok {
			return stem
		}
	}
	return ""
}
