// Package node installs, checks and removes payloads on a Windows node with
// verify.exe as it is started there, with the real csi-proxy. The node is Wine
// (package winenode, which says what it can't show). It has no code of its own.
package node
