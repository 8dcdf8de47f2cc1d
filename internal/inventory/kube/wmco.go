package kube

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/shell"
	"github.com/winbake/winbake/internal/version"
)

// Names that the Windows Machine Config Operator gives what it makes:
// https://github.com/openshift/windows-machine-config-operator/blob/master/pkg/servicescm/servicescm.go
const (
	wmcoName       = "windows-machine-config-operator"
	servicesPrefix = "windows-services-"
)

// What updates wait for, and what the administrator acknowledged of it:
// https://github.com/openshift/enhancements/blob/master/enhancements/update/upgrades-blocking-on-ack.md
const (
	adminGates      = "admin-gates"
	adminGatesSpace = "openshift-config-managed"
	adminAcks       = "admin-acks"
	adminAcksSpace  = "openshift-config"
)

func wantsConfigMap(name string) bool {
	return name == adminAcks || name == adminGates || strings.HasPrefix(name, servicesPrefix)
}

// ConfigMap takes WMCO's lists of services, the gates of updates and their
// acknowledgements; any other is left.
func (c *Collector) ConfigMap(cm *corev1.ConfigMap, at Locator) {
	o, at := c.begin("ConfigMap", cm, at)
	defer c.mu.Unlock()
	switch of, isServices := strings.CutPrefix(cm.Name, servicesPrefix); {
	case isServices:
		if c.first(o, inventory.Services, at) {
			c.services(of, cm.Data, at)
		}
	case cm.Name == adminGates && cm.Namespace == adminGatesSpace:
		if c.first(o, inventory.AdminGates, at) {
			for key, message := range cm.Data {
				c.inv.Cluster.AdminGates = append(c.inv.Cluster.AdminGates, inventory.AdminGate{
					Key: key, Message: message, At: inventory.Evidence{Where: at("data", key), Text: key},
				})
			}
		}
	case cm.Name == adminAcks && cm.Namespace == adminAcksSpace:
		if c.first(o, inventory.AdminAcks, at) {
			for key, value := range cm.Data {
				if value == "true" {
					c.inv.Cluster.AdminAcks = append(c.inv.Cluster.AdminAcks, key)
				}
			}
		}
	}
}

// services reads the JSON text of one list. The command line stands under the
// key path.
func (c *Collector) services(wmco string, data map[string]string, at Locator) {
	var listed []struct {
		Name string `json:"name"`
		Path string `json:"path"`
	}
	if err := json.Unmarshal([]byte(data["services"]), &listed); err != nil {
		c.problem(inventory.Problem{
			Where: at("data", "services"), What: "WMCO's list of services isn't JSON: " + err.Error(),
			Fix:     "see what the ConfigMap of the cluster has, and give that",
			Command: "kubectl get configmap " + shell.Word(servicesPrefix+wmco) + " -n openshift-" + wmcoName + " -o yaml",
		})
		return
	}
	list := inventory.ServiceList{WMCO: wmco, Data: data, At: inventory.Evidence{Where: at("data", "services")}}
	for _, s := range listed {
		list.Names = append(list.Names, s.Name)
		if s.Name == "csi-proxy" {
			list.CSIProxy = s.Path
			list.At.Text = s.Path
		}
	}
	c.inv.Cluster.Services = append(c.inv.Cluster.Services, list)
}

// wmcoFact is a version that something says WMCO has.
type wmcoFact struct {
	version version.WMCO
	at      inventory.Evidence
	// settled is false for a ClusterServiceVersion that is being replaced.
	settled bool
}

// csvName is what OLM calls a version of WMCO; a respin has a suffix.
var csvName = regexp.MustCompile(`^` + wmcoName + `\.v([0-9]+\.[0-9]+\.[0-9]+)(?:-.*)?$`)

// wmcoIs notes a version of WMCO, from a name such as
// windows-machine-config-operator.v10.19.1.
func (c *Collector) wmcoIs(name string, settled bool, at inventory.Evidence) {
	m := csvName.FindStringSubmatch(name)
	if m == nil {
		return
	}
	v, err := version.ParseWMCO(m[1])
	if err != nil {
		return
	}
	c.wmco = append(c.wmco, wmcoFact{v, at, settled})
}

// newestWMCO is the operator that is there: the newest that isn't being
// replaced.
func (c *Collector) newestWMCO() (wmcoFact, bool) {
	if len(c.wmco) == 0 {
		return wmcoFact{}, false
	}
	return slices.MaxFunc(c.wmco, func(a, b wmcoFact) int {
		if a.settled != b.settled {
			if a.settled {
				return 1
			}
			return -1
		}
		return a.version.Compare(b.version)
	}), true
}
