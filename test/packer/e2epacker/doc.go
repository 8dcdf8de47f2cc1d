// Package e2epacker runs Packer itself on the templates that bake template
// writes. It has no code of its own; its tests need the build tag e2e.
package e2epacker
