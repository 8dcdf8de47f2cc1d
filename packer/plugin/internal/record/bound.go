package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// BoundVersion is the apiVersion of a Bound.
const BoundVersion = "winbake.dev/image-artifact/v1"

// Bound is a manifest with what came of its build. Its subject is what is in
// the image; what the image is called comes second.
type Bound struct {
	APIVersion string   `json:"apiVersion"`
	Subject    Subject  `json:"subject"`
	Artifact   Artifact `json:"artifact"`
	// Manifest is the one that was found on the machine.
	Manifest Manifest `json:"manifest"`
}

// Subject is what is spoken of.
type Subject struct {
	// Digest is that of the manifest's content.
	Digest string `json:"digest"`
	// Payload is the digest of the payload image.
	Payload string `json:"payload"`
}

// Artifact is what Packer made.
type Artifact struct {
	// Builder and ID are Packer's: jetbrains.vsphere, the name of a template.
	Builder string `json:"builder"`
	ID      string `json:"id"`
	// Description is for people.
	Description string `json:"description"`
	// Files are those on the machine that Packer ran on; none for an image
	// that lies elsewhere.
	Files []LocalFile `json:"files"`
}

// LocalFile is one of an artifact's files.
type LocalFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Bind puts a manifest and an artifact together.
func Bind(m *Manifest, a Artifact) *Bound {
	return &Bound{APIVersion: BoundVersion, Subject: Subject{Digest: m.Digest, Payload: m.Content.Payload}, Artifact: a, Manifest: *m}
}

// Sum hashes a file of an artifact.
func Sum(name string) (f LocalFile, err error) {
	in, err := os.Open(name)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	h := sha256.New()
	size, err := io.Copy(h, in)
	return LocalFile{Name: name, SHA256: hex.EncodeToString(h.Sum(nil)), Size: size}, err
}
