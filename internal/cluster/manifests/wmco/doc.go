// Package wmco has the services that the Windows Machine Config Operator
// (WMCO) sets up on a node, for each OpenShift release and each cloud, and puts
// what a versions.yaml declares over them.
//
// The facts are data, services.yaml: no release and no cloud is named in the
// code. It writes nothing out, which is package manifests' work, and knows no
// cluster but what Cluster says of one.
package wmco
