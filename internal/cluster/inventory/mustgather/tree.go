package mustgather

import (
	"path"
	"slices"
	"strings"
)

// runOf is the folder of the run that a root belongs to: must-gather.local.*
// and inspect.local.* by their names, else the parent of an image's folder,
// which oc names by its digest. named tells the former.
func runOf(root string) (folder string, named bool) {
	parts := strings.Split(root, "/")
	if i := slices.IndexFunc(parts, func(p string) bool {
		return strings.HasPrefix(p, "must-gather.local.") || strings.HasPrefix(p, "inspect.local.")
	}); i >= 0 {
		return strings.Join(parts[:i+1], "/"), true
	}
	if i := slices.IndexFunc(parts, func(p string) bool { return strings.Contains(p, "-sha256-") }); i >= 0 {
		return path.Join(parts[:i]...), false
	}
	return root, false
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
