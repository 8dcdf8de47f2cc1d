// Package payload makes the payload of the Windows Machine Config Operator
// (WMCO): the tree /payload in the operator's image that holds the executables and
// scripts of a Windows Kubernetes node.
//
// A [Tree] is the files, in one of two formats. [NewLayer] packs it in one
// pass into an image layer that is kept in a [Store]; [NewImage], [Append] and
// [AppendIndex] make an image or index of the layer, of the payload alone or on
// an operator's image; [WriteDir] writes the plain tree. What comes out depends on
// the files and options alone: never on their order, the time, the user, the
// machine or its number of cores. go-containerregistry writes and pushes the
// images; package verify checks them.
//
// It isn't a general image builder: layers hold nothing but a payload, and it
// doesn't build, sign or install what is in one. It prints nothing; progress
// goes to the functions that it is given, one call at a time, but from any
// goroutine. Errors are for people: what is wrong, where, and what fixes it.
package payload

import "github.com/winbake/winbake/internal/base/atomicfs"

// ErrForeign is wrapped by the errors about a folder that WriteDir doesn't
// replace, since something else than a payload is in it.
var ErrForeign = atomicfs.ErrForeign
