// Package payload makes, writes and reads back the payload of the Windows
// Machine Config Operator (WMCO): the tree /payload in the operator's image
// that holds the executables and scripts of a Windows Kubernetes node.
package payload
