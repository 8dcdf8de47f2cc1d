package kube

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// Names that the Windows Machine Config Operator gives what it makes:
// https://github.com/openshift/windows-machine-config-operator/blob/master/pkg/servicescm/servicescm.go
const (
	wmcoName = "windows-machine-config-operator"
	// OperatorNamespace is where it runs, and keeps the ConfigMaps whose names begin
	// with ServicesPrefix.
	OperatorNamespace = "openshift-" + wmcoName
	ServicesPrefix    = "windows-services-"
)

// What updates wait for, and what the administrator acknowledged of it:
// https://github.com/openshift/enhancements/blob/master/enhancements/update/upgrades-blocking-on-ack.md
const (
	adminGates      = "admin-gates"
	adminGatesSpace = "openshift-config-managed"
	adminAcks       = "admin-acks"
	adminAcksSpace  = "openshift-config"
)

// configMap takes WMCO's lists of services, the gates of updates and their
// acknowledgements; any other is left.
func (c *Collector) configMap(o inventory.Object, cm *corev1.ConfigMap, at Locator) {
	switch of, isServices := strings.CutPrefix(cm.Name, ServicesPrefix); {
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
			Command: "kubectl get configmap " + shell.Word(ServicesPrefix+wmco) + " -n " + OperatorNamespace + " -o yaml",
		})
		return
	}
	list := inventory.ServiceList{WMCO: wmco, At: inventory.Evidence{Where: at("data", "services")}}
	for _, s := range listed {
		list.Names = append(list.Names, s.Name)
		if s.Name == "csi-proxy" {
			list.CSIProxy = s.Path
			list.At.Text = s.Path
		}
	}
	c.inv.Cluster.Services = append(c.inv.Cluster.Services, list)
}

// csvName is what OLM calls a version of WMCO; a respin has a suffix.
var csvName = regexp.MustCompile(`^` + wmcoName + `\.v([0-9]+\.[0-9]+\.[0-9]+)(?:-.*)?$`)

// wmcoIs notes a version of WMCO, from a name such as
// windows-machine-config-operator.v10.19.1.
func (c *Collector) wmcoIs(name string, csv *inventory.ClusterServiceVersion, at inventory.Evidence) {
	m := csvName.FindStringSubmatch(name)
	if m == nil {
		return
	}
	v, err := version.ParseWMCO(m[1])
	if err != nil {
		return
	}
	c.wmco = append(c.wmco, wmcoFact{v, at, csv})
}

// newestWMCO is the newest operator, of those that are installed where any is.
func (c *Collector) newestWMCO() (wmcoFact, bool) {
	if len(c.wmco) == 0 {
		return wmcoFact{}, false
	}
	return slices.MaxFunc(c.wmco, func(a, b wmcoFact) int {
		if a.csv.Installed() != b.csv.Installed() {
			if a.csv.Installed() {
				return 1
			}
			return -1
		}
		return a.version.Compare(b.version)
	}), true
}

// proxyOf tells whether a workload runs csi-proxy itself, in a HostProcess
// container: the chart of csi-driver-smb and sig-windows' example do.
func (c *Collector) proxyOf(o inventory.Object, p podTemplate, cts []container) (inventory.Proxy, bool) {
	if hasRegistrar(cts) {
		return inventory.Proxy{}, false
	}
	for i := range cts {
		ct := &cts[i]
		if !ct.runsProxy() {
			continue
		}
		fact := c.versionOf(ct.image, ct.err, p.imageAt(ct))
		return inventory.Proxy{Object: o, Container: ct.Name, Image: ct.image, Version: fact, Scheduling: podtext.Scheduling(p.spec), At: p.imageAt(ct)}, true
	}
	return inventory.Proxy{}, false
}

func (ct *container) runsProxy() bool {
	if podtext.LastElement(ct.image.Repository) == "csi-proxy" {
		return true
	}
	for _, w := range ct.words {
		program := strings.ToLower(podtext.Slashed(w.Text))
		if program == "csi-proxy.exe" || strings.HasSuffix(program, "/csi-proxy.exe") {
			return true
		}
	}
	return false
}

// CSIProxyLog takes the line of a csi-proxy's log in which it says its
// version, "Version: v1.1.3-34-g5cb6e2d". The node "" means a log of all
// nodes, with no telling which line is whose: it counts where all such lines
// agree.
func (c *Collector) CSIProxyLog(node, line string, at inventory.Evidence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logs = append(c.logs, logLine{node, line, at})
}

// proxyLogs gives each Windows node what was read of its csi-proxy.
func (c *Collector) proxyLogs(nodes []inventory.Node) {
	common := commonProxy(c.logs)
	for i := range nodes {
		nodes[i].CSIProxy = common
		for _, l := range c.logs {
			if l.node == nodes[i].Name {
				fact := l.fact()
				nodes[i].CSIProxy = &fact // the last start is the one that runs
			}
		}
	}
}

// commonProxy is what the logs without a node's name agree on.
func commonProxy(logs []logLine) *inventory.VersionFact {
	var common *inventory.VersionFact
	for _, l := range logs {
		if l.node != "" {
			continue
		}
		fact := l.fact()
		switch {
		case common == nil || common.Known == fact.Known && common.Version == fact.Version:
			common = &fact // of the last start
		case common.Known:
			return &inventory.VersionFact{At: fact.At, Reason: "the nodes' logs stand in one file, and their versions differ"}
		}
	}
	return common
}

// fact reads a line; the text in front of Version:, klog's, doesn't count.
func (l logLine) fact() inventory.VersionFact {
	fact := inventory.VersionFact{At: l.at, By: byLog}
	fact.At.Text = cmp.Or(fact.At.Text, strings.TrimSpace(l.text))
	_, text, _ := strings.Cut(l.text, "Version:")
	d, err := version.ParseDriver(strings.TrimSpace(text))
	if err != nil {
		fact.By, fact.Reason = "", "csi-proxy's log says "+reason(err)
		return fact
	}
	fact.Version, fact.Known = d, true
	return fact
}
