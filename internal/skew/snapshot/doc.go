// Package snapshot is a cluster at a moment of an update: an inventory and the
// catalog, indexed, with what drivers, nodes, WMCO and csi-proxy are then. It
// answers what is there and judges nothing; rules do.
package snapshot
