package ociimage

import (
	"bytes"

	"github.com/google/go-containerregistry/pkg/compression"
)

// Sniff tells a compression by its first bytes. Media types aren't asked:
// tools get them wrong, and the bytes can't.
func Sniff(head []byte) compression.Compression {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return compression.GZip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return compression.ZStd
	}
	return compression.None
}
