package payload

import (
	"context"
)

// ExtrasRoot is the folder of an image that holds what is ours and not WMCO's,
// without a leading slash. It is a layer of its own: the payload's layer is
// the same with it and without.
const ExtrasRoot = "winbake"

// The files of ExtrasRoot.
const (
	// ExpectationName says what a node with this payload should be.
	ExpectationName = "node.json"
	// VerifyName checks that on the node.
	VerifyName = "verify.exe"
)

// extraNames are all that there are: a folder with anything else isn't ours.
var extraNames = []string{ExpectationName, VerifyName}

// NewExtras packs files into a layer with ExtrasRoot, as NewLayer packs a
// payload.
func NewExtras(ctx context.Context, files []File, store Store, o LayerOptions) (*Layer, error) {
	return NewLayer(ctx, &Tree{Format: Flat, Files: files, extras: true}, store, o)
}
