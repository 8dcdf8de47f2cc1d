package winsvc

import "time"

// PipePrefix begins the name of every pipe of csi-proxy
// (https://github.com/kubernetes-csi/csi-proxy/blob/master/client/utils.go).
const PipePrefix = `\\.\pipe\csi-proxy-`

// CSIProxyName is the service's name on a node that WMCO manages. Upstream's
// documentation calls it csiproxy; two of them fight for the pipes.
const CSIProxyName = "csi-proxy"

// CSIProxyOther is the name of upstream's documentation.
const CSIProxyOther = "csiproxy"

// WICDName is the service of WMCO's daemon on the node. Where it exists, WMCO
// decides over all the services that it knows.
const WICDName = "windows-instance-config-daemon"

// CSIProxy is csi-proxy as WMCO sets it up: its name, program, command line,
// priority and log directory (pkg/services/services.go and
// pkg/windows/windows.go of
// https://github.com/openshift/windows-machine-config-operator, the same from
// 7.2.0 to 11.0). Start type and recovery are ours, for nodes without WMCO,
// which starts it by hand and has its daemon look after it.
//
// groups are those that the release serves, disk-v1; they become pipes.
func CSIProxy(groups ...string) Service {
	s := Service{
		Name:        CSIProxyName,
		Display:     "CSI Proxy",
		Description: "Storage operations on this node for CSI drivers in containers",
		Component:   "csi-proxy",
		Path:        `C:\k\csi-proxy.exe`,
		Arguments: []string{
			`-log_file=C:\var\log\csi-proxy\csi-proxy.log`, "-logtostderr=false", "-windows-service", "--v=2",
		},
		Start:        StartAutomatic,
		Priority:     2,
		LogDirectory: `C:\var\log\csi-proxy`,
		Recovery: Recovery{
			Reset:      24 * time.Hour,
			OnNonCrash: true,
			Actions: []Action{
				{Kind: ActionRestart, Delay: 10 * time.Second},
				{Kind: ActionRestart, Delay: 30 * time.Second},
				{Kind: ActionRestart, Delay: 60 * time.Second},
			},
		},
	}
	for _, g := range groups {
		s.Pipes = append(s.Pipes, PipePrefix+g)
	}
	return s
}
