module github.com/kubernetes-csi/csi-proxy

// NOTE: built with go < 1.23
go 1.24.3

toolchain go1.24.4

godebug winsymlink=0

require (
	github.com/kubernetes-csi/csi-proxy/client v1.1.3
	k8s.io/gengo v0.0.0-20240911193312-2b36238f13e9
)

exclude example.com/bad v1.0.0

retract v0.9.0

replace (
	github.com/kubernetes-csi/csi-proxy/client => ./client
	k8s.io/gengo => github.com/mauriciopoppe/gengo v0.0.0-20210525224835-9c78f58f3486
)
