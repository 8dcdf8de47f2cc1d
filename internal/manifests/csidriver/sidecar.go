package csidriver

// Repositories of the two programs that run beside every driver.
const (
	registrarK8s = "registry.k8s.io/sig-storage/csi-node-driver-registrar:"
	probeK8s     = "registry.k8s.io/sig-storage/livenessprobe:"
	registrarMCR = "mcr.microsoft.com/oss/kubernetes-csi/csi-node-driver-registrar:"
	registrarV2  = "mcr.microsoft.com/oss/v2/kubernetes-csi/csi-node-driver-registrar:"
	probeMCR     = "mcr.microsoft.com/oss/kubernetes-csi/livenessprobe:"
)

// Names of their containers and of the registrar's program.
const (
	registrarName = "node-driver-registrar"
	probeName     = "liveness-probe"
	registrarExe  = "csi-node-driver-registrar.exe"
	probeExe      = "livenessprobe.exe"
)
