package kube

import (
	"strings"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/podtext"
	"github.com/winbake/winbake/internal/version"
)

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
		return inventory.Proxy{Object: o, Image: ct.image, Version: fact, Scheduling: scheduling(p.spec), At: p.imageAt(ct)}, true
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

type logLine struct {
	node string
	text string
	at   inventory.Evidence
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
		case common == nil:
			common = &fact
		case common.Known && (!fact.Known || fact.Version != common.Version):
			return &inventory.VersionFact{At: fact.At, Reason: "the nodes' logs stand in one file, and their versions differ"}
		}
	}
	return common
}

// fact reads a line; the text in front of Version:, klog's, doesn't count.
func (l logLine) fact() inventory.VersionFact {
	fact := inventory.VersionFact{At: l.at, By: byLog}
	if fact.At.Text == "" {
		fact.At.Text = strings.TrimSpace(l.text)
	}
	_, text, _ := strings.Cut(l.text, "Version:")
	d, err := version.ParseDriver(strings.TrimSpace(text))
	if err != nil {
		fact.By, fact.Reason = "", "csi-proxy's log says "+reason(err)
		return fact
	}
	fact.Version, fact.Known = d, true
	return fact
}
