// Package csidriver writes the Windows node part of a CSI driver for an
// OpenShift release: the DaemonSet, what it needs of its namespace, and a
// StorageClass, a claim and a Deployment to try it with. The version is the
// upstream one closest to what the release ships on Linux, by the catalog; the
// shape of the pod is what the driver's own project deploys at that version.
//
// It never writes a controller, a CSIDriver object or anything else that the
// cluster's own operator keeps. It reads no file and talks to no cluster and no
// registry. Whether a set of manifests fits a cluster is package skew's to say.
package csidriver
