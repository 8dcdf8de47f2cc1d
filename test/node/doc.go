// Package node installs, upgrades, checks and removes payloads on a Windows
// node with the commands that people run, over SSH, with the real csi-proxy.
// The node is Wine behind an SSH server (package winenode, which says what it
// can't show). It has no code of its own.
package node
