// Package remedy chooses the actions that bring a driver, WMCO or csi-proxy to
// where a rule wants it: an image, a manifest that bake writes or the project's,
// what was planned. It doesn't decide whether anything has to change.
package remedy
