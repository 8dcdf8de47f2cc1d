package mustgather

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/yamlnode"
)

// documents splits a file into its objects. A list is cut into its items by
// their indent, so that one of 100 MB is never a tree in memory at once. src
// is changed.
func documents(file string, src []byte, isList bool) ([]document, error) {
	if !isList {
		return []document{{file: file, line: 1, text: src}}, nil
	}
	if _, items, ok := yamlnode.Items(src); ok {
		docs := make([]document, len(items))
		for i, item := range items {
			docs[i] = document{file: file, line: item.Line, text: item.Text}
		}
		return docs, nil
	}
	return decodeItems(file, src)
}

// decodeItems reads a list of another form, such as JSON, whole. Its evidence
// names the file alone.
func decodeItems(file string, src []byte) ([]document, error) {
	var l map[string]json.RawMessage
	if err := sigsyaml.Unmarshal(src, &l); err != nil {
		return nil, err
	}
	if l["items"] == nil {
		return nil, errors.New("a list without items")
	}
	var items []json.RawMessage
	if err := json.Unmarshal(l["items"], &items); err != nil {
		return nil, err
	}
	docs := make([]document, 0, len(items))
	for _, item := range items {
		docs = append(docs, document{file: file, line: 1, text: item})
	}
	return docs, nil
}

type kind struct {
	apiVersion, kind string
	// resource is what rules ask the coverage of; "" for others.
	resource   inventory.Resource
	namespaced bool
}

// kinds are the resources that may be wanted, by their place in a must-gather.
// The Collector has the last word.
var kinds = map[string]kind{
	"core/nodes":                                           {"v1", "Node", inventory.Nodes, false},
	"core/persistentvolumes":                               {"v1", "PersistentVolume", inventory.Volumes, false},
	"core/namespaces":                                      {"v1", "Namespace", inventory.Namespaces, false},
	"core/pods":                                            {"v1", "Pod", inventory.Pods, true},
	"core/configmaps":                                      {"v1", "ConfigMap", inventory.Services, true},
	"core/persistentvolumeclaims":                          {"v1", "PersistentVolumeClaim", inventory.Claims, true},
	"apps/daemonsets":                                      {"apps/v1", "DaemonSet", inventory.DaemonSets, true},
	"core/replicationcontrollers":                          {"v1", "ReplicationController", "", true},
	"apps/deployments":                                     {"apps/v1", "Deployment", "", true},
	"apps/statefulsets":                                    {"apps/v1", "StatefulSet", "", true},
	"apps/replicasets":                                     {"apps/v1", "ReplicaSet", "", true},
	"batch/jobs":                                           {"batch/v1", "Job", "", true},
	"batch/cronjobs":                                       {"batch/v1", "CronJob", "", true},
	"apps.openshift.io/deploymentconfigs":                  {"apps.openshift.io/v1", "DeploymentConfig", "", true},
	"storage.k8s.io/storageclasses":                        {"storage.k8s.io/v1", "StorageClass", "", false},
	"node.k8s.io/runtimeclasses":                           {"node.k8s.io/v1", "RuntimeClass", "", false},
	"storage.k8s.io/csinodes":                              {"storage.k8s.io/v1", "CSINode", inventory.CSINodes, false},
	"config.openshift.io/clusterversions":                  {"config.openshift.io/v1", "ClusterVersion", inventory.ClusterVersion, false},
	"config.openshift.io/infrastructures":                  {"config.openshift.io/v1", "Infrastructure", "", false},
	"operator.openshift.io/clustercsidrivers":              {"operator.openshift.io/v1", "ClusterCSIDriver", inventory.CSIDrivers, false},
	"machineconfiguration.openshift.io/machineconfigpools": {"machineconfiguration.openshift.io/v1", "MachineConfigPool", inventory.Pools, false},
	"operators.coreos.com/clusterserviceversions":          {"operators.coreos.com/v1alpha1", "ClusterServiceVersion", "", true},
}

// decoder decodes d; an item of a list may leave out what the list says.
func (k kind) decoder(d *document) func(into any) error {
	return func(into any) error {
		err := d.decode(into)
		m, custom := into.(*map[string]any)
		if err != nil || !custom {
			return err
		}
		if *m == nil {
			*m = map[string]any{}
		}
		if (*m)["kind"] == nil {
			(*m)["apiVersion"], (*m)["kind"] = k.apiVersion, k.kind
		}
		return nil
	}
}

type document struct {
	// file names the file in evidence.
	file string
	// line is where text starts in the file, from 1.
	line int
	text []byte
	json []byte
}

// head is what the reader itself needs of an object.
type head struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		ClaimRef struct {
			Namespace string `json:"namespace"`
		} `json:"claimRef"`
	} `json:"spec"`
}

// parse reads YAML into JSON, which is what Kubernetes' types decode.
func (d *document) parse() (head, error) {
	var h head
	j, err := sigsyaml.YAMLToJSON(d.text)
	if err != nil {
		return h, err
	}
	d.json = j
	if err := json.Unmarshal(j, &h); err != nil {
		return h, err
	}
	if h.Metadata.Name == "" {
		return h, errors.New("an object without metadata.name")
	}
	return h, nil
}

// name finds metadata.name by the indent of oc's YAML, without parsing it; ""
// where it can't be found so. Of the lists of ConfigMaps and of an operator's
// copies in every namespace nearly all is passed over by it.
func (d *document) name() string {
	outer, inner := -1, -1
	inside := false
	for line := range bytes.Lines(d.text) {
		line = bytes.TrimRight(line, "\r\n")
		rest := bytes.TrimLeft(line, " ")
		indent := len(line) - len(rest)
		switch {
		case len(rest) == 0 || rest[0] == '#' || bytes.Equal(rest, []byte("---")):
			continue
		case outer < 0:
			outer = indent
		}
		switch {
		case indent == outer:
			if inside {
				return ""
			}
			inside = bytes.Equal(rest, []byte("metadata:"))
			continue
		case !inside:
			continue
		case inner < 0:
			inner = indent
		}
		if value, ok := bytes.CutPrefix(rest, []byte("name: ")); ok && indent == inner {
			return plain(value)
		}
	}
	return ""
}

// plain is a scalar that stands as it is, "" for one that is quoted or more.
func plain(value []byte) string {
	if bytes.ContainsAny(value, "\"'{}[]&*!|>#:") {
		return ""
	}
	return string(bytes.TrimSpace(value))
}

func (d *document) decode(into any) error { return json.Unmarshal(d.json, into) }

// locate is where the object starts.
func (d *document) locate(...any) string { return d.file + ":" + strconv.Itoa(d.line) }

// yamlLine finds the line in an error of the YAML parser.
var yamlLine = regexp.MustCompile(`\bline ([0-9]+)`)

// fault words an error of parse for people, with its place in the file.
func (d *document) fault(err error) (where, what string) {
	line := d.line
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if n, aerr := strconv.Atoi(m[1]); aerr == nil && n > 0 {
			line += n - 1
		}
	}
	what = strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	what = strings.TrimPrefix(what, "yaml: ")
	return d.file + ":" + strconv.Itoa(line), what
}
