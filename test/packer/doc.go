// Package packer builds Packer and its plugins from the Go module proxy for
// tests, and gives a test an environment to run them in. Builds are kept in the
// user's cache folder; the first ones take ten minutes on two cores.
//
// packer init would fetch plugins from GitHub: nothing here does. Packer's
// licence (BUSL-1.1) lets one run it; nothing of it is kept in this repository.
package packer
