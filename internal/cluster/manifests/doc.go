// Package manifests writes definitions out: services as the ConfigMap that
// the Windows Machine Config Operator (WMCO) keeps, and as a cmd.exe script for
// a node without it. The same input always gives the same bytes.
//
// It reads no file and talks to no cluster and no node; what a definition may
// say is package winsvc's.
package manifests
