// Package lint finds what `packer validate` doesn't look at in a template that
// makes golden images of Windows. It reads the HCL of anybody's folder and the answer
// files that it names, and says UNKNOWN where a value is only given at build time.
//
// It says nothing of what a script does: a check in the guest asks Windows for that,
// and lint says where none runs.
package lint
