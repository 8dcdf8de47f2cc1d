// Package record is the manifest of an image: what is on the machine that it
// was made of, by sums, and which build made it.
//
// The provisioner writes it, onto the machine and beside the build. It judges
// nothing.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// APIVersion is the manifest's.
const APIVersion = "winbake.dev/image/v1"

// GuestPath is where the manifest is on the machine, slash-separated.
const GuestPath = "C:/ProgramData/winbake/manifest.json"

// Manifest is manifest.json.
type Manifest struct {
	APIVersion string `json:"apiVersion"`
	// Digest is "sha256:..." of Content as JSON without white space: the same
	// on every machine that is the same.
	Digest  string  `json:"digest"`
	Content Content `json:"content"`
	Build   Build   `json:"build"`
}

// Content is what is on the machine.
type Content struct {
	// Payload is the digest of the image that the files come from, "" where
	// they came from a folder.
	Payload string `json:"payload"`
	// Release is the OpenShift release that the payload is for, "" where it
	// doesn't say.
	Release string `json:"release,omitempty"`
	Profile string `json:"profile"`
	// OS is what the machine says of its Windows: "10.0.20348.681".
	OS string `json:"os"`
	// Files are those of the payload, with the sums that were found on the machine.
	Files    []node.File `json:"files"`
	Services []Service   `json:"services"`
	// Verify is the sum of the verify.exe that looked.
	Verify string `json:"verify"`
	// Findings are those that aren't PASS: what was accepted, and what is
	// worth knowing.
	Findings []finding.Finding `json:"findings"`
}

// Service is a service as it was found on the machine. Nil is what it didn't
// tell.
type Service struct {
	Name    string        `json:"name"`
	Command *string       `json:"command"`
	Start   *winsvc.Start `json:"start"`
	Account *string       `json:"account"`
	State   *string       `json:"state"`
	Pipes   []string      `json:"pipes,omitempty"`
}

// Build is who made the image.
type Build struct {
	// Run is Packer's PACKER_RUN_UUID, the same in all of one build.
	Run string `json:"run"`
	// Name and Type are Packer's for the source.
	Name string `json:"name"`
	Type string `json:"type"`
	// Payload is the image as it was named.
	Payload string `json:"payload"`
}

// New makes a manifest, with the digest of its content.
func New(c Content, b Build) (*Manifest, error) {
	sum, err := c.digest()
	return &Manifest{APIVersion: APIVersion, Digest: sum, Content: c, Build: b}, err
}

func (c Content) digest() (string, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encode the manifest: %w", err)
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// Encode is the manifest as people read it.
func (m *Manifest) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	return append(data, '\n'), nil
}

// Write puts a file into its place at once: a build that is cut short leaves
// the old one or the new one.
func Write(name string, data []byte) error {
	if err := atomicfs.WriteFile(name, data); err != nil {
		return &fault.Error{Where: name, What: "can't be written: " + err.Error(), Fix: "name a file in a folder that is there, and that you may write into", Err: err}
	}
	return nil
}
