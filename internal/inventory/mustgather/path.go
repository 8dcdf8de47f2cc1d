package mustgather

import (
	"path"
	"strings"
)

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
	// gzipped: the name ends in .gz.
	gzipped bool
	// pod: one of the files pods/<pod>/<pod>.yaml, which repeat core/pods.yaml.
	pod bool
}

// locate takes a clean, slash-separated path apart.
func locate(name string) place {
	bare, gzipped := strings.CutSuffix(name, ".gz")
	p := place{gzipped: gzipped}
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
	switch path.Base(bare) {
	case "timestamp":
		p.role, p.root = timestamp, dirOf(bare)
	case "version":
		p.role, p.root = script, dirOf(bare)
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
	case len(rest) == 1 && isYAML(rest[0], p.namespace):
		p.role, p.resource = object, "core/namespaces"
	case len(rest) == 3 && rest[0] == "pods" && isYAML(rest[2], rest[1]):
		p.role, p.resource, p.pod = object, "core/pods", true
	default:
		p.inGroup(rest)
	}
}

// inGroup reads group/plural.yaml or group/plural/name.yaml.
func (p *place) inGroup(parts []string) {
	switch len(parts) {
	case 2:
		if plural, ok := trimYAML(parts[1]); ok {
			p.role, p.resource = list, parts[0]+"/"+plural
		}
	case 3:
		if _, ok := trimYAML(parts[2]); ok {
			p.role, p.resource = object, parts[0]+"/"+parts[1]
		}
	}
}

func isYAML(file, name string) bool {
	stem, ok := trimYAML(file)
	return ok && stem == name
}

// trimYAML cuts the extension off; JSON is YAML too.
func trimYAML(file string) (string, bool) {
	for _, ext := range []string{".yaml", ".yml", ".json"} {
		if stem, ok := strings.CutSuffix(file, ext); ok && stem != "" {
			return stem, true
		}
	}
	return "", false
}

func dirOf(name string) string {
	if d := path.Dir(name); d != "." {
		return d
	}
	return ""
}
