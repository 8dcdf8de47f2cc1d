// Package payload makes, writes, reads back and checks the payload of the
// Windows Machine Config Operator (WMCO): the tree /payload in the operator's
// image that holds the executables and scripts of a Windows Kubernetes node.
//
// A [Tree] is the files, in one of two formats. [NewLayer] packs it in one
// pass into an image layer that is kept in a [Store]; [NewImage], [Append] and
// [AppendIndex] make an image or index of the layer, of the payload alone or on
// an operator's image, whose own files [ReadBase] tells; [WriteLayout],
// [WriteTarball] and [Push] write that, [WriteDir] writes the plain tree. What
// comes out depends on the files and options alone: never on their order, the
// time, the user, the machine or its number of cores.
//
// Whatever cuts a writer short, the place it writes to holds what it held
// before or the new image, whole.
//
// [Load] opens an image, wherever it lies, and [Check] tells what is wrong
// with the payload in it.
//
// It isn't a general image builder: layers hold nothing but a payload, and it
// doesn't build, sign or install what is in one. It prints nothing; progress
// goes to the functions that it is handed.
package payload
