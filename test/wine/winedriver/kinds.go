package winedriver

// kind is how a driver's node part is started, by its project's manifest for
// Windows, and a volume of it.
type kind struct {
	args, env   func(address string) []string
	hostProcess []string
	volume      Volume
	unixSocket  bool // it takes no other
}

// none is a driver's environment that has nothing of its own.
func none(string) []string { return nil }

// Node is the node that the drivers are told they run on, and Kubeconfig the file
// by which they reach an API server.
const (
	NodeName   = "winnode"
	Kubeconfig = `C:\kubeconfig`
)

var share = Volume{ID: "share", Secrets: map[string]string{"username": "me", "password": "p", "azurestorageaccountname": "me", "azurestorageaccountkey": "cA=="},
	Given: map[string]string{"source": "//server/share", "server": "server", "shareName": "share", "storageAccount": "me"}}

// kinds are the drivers, by the catalog's names.
var kinds = map[string]kind{
	"aws-ebs": {
		args: func(a string) []string {
			return []string{"node", "--endpoint=tcp://" + a, "--v=4"}
		},
		env:         func(string) []string { return []string{"CSI_NODE_NAME=" + NodeName} },
		hostProcess: []string{"--windows-host-process=true"},
		volume:      Volume{ID: "vol-0123456789abcdef0", Published: map[string]string{"devicePath": "/dev/xvdba"}},
	},
	"azure-disk": {
		args: func(a string) []string {
			return []string{"--v=5", "--endpoint=tcp://" + a, "--nodeid=" + NodeName, "--allow-empty-cloud-config=true", "--get-node-info-from-labels=true", "--metrics-address=", "--kubeconfig=" + Kubeconfig}
		},
		env:         none,
		hostProcess: []string{"--enable-windows-host-process=true"},
		volume:      Volume{ID: "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/disks/d", Published: map[string]string{"LUN": "0"}},
	},
	"azure-file": {
		args: func(a string) []string {
			return []string{"--v=5", "--endpoint=tcp://" + a, "--nodeid=" + NodeName, "--metrics-address=", "--kubeconfig=" + Kubeconfig}
		},
		env:         none,
		hostProcess: []string{"--enable-windows-host-process=true"},
		volume:      share,
	},
	"gcp-pd": {
		args: func(a string) []string {
			return []string{"--v=5", "--endpoint=tcp://" + a, "--run-controller-service=false"}
		},
		env:    none,
		volume: Volume{ID: "projects/p/zones/z/disks/d"},
	},
	"smb": {
		args: func(a string) []string {
			return []string{"--v=5", "--endpoint=tcp://" + a, "--nodeid=" + NodeName, "--metrics-address="}
		},
		env:         none,
		hostProcess: []string{"--enable-windows-host-process=true"},
		volume:      share,
	},
	"vsphere": {
		args: func(string) []string {
			return []string{"--fss-name=internal-feature-states.csi.vsphere.vmware.com", "--fss-namespace=openshift-cluster-csi-drivers", "--kubeconfig=" + Kubeconfig}
		},
		env: func(string) []string {
			return []string{`CSI_ENDPOINT=unix://C:\csi.sock`, "NODE_NAME=" + NodeName, "X_CSI_MODE=node", "X_CSI_SPEC_REQ_VALIDATION=false", "LOGGER_LEVEL=DEVELOPMENT"}
		},
		unixSocket: true,
		volume:     Volume{ID: "b03f0b6e-cf29-4b98-9411-5168682ace82", Published: map[string]string{"diskUUID": "6000c29a98d05e384a43f0ef189aaf5a", "type": "vSphere CNS Block Volume"}, Given: map[string]string{"type": "vSphere CNS Block Volume"}},
	},
}
