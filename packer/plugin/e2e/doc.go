// Package e2e runs the plugin in Packer, on a Wine node behind SSH and on
// vSphere machines of govmomi's simulator whose guest that node is. It has no
// code of its own; its tests need the build tag e2e.
package e2e
