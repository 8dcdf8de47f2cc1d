// Package node is what a Windows node should be, what it says of itself, and
// how the two differ.
//
// It is pure: an [Expectation] is written by `bake payload` into the image
// (/winbake/node.json), [Facts] are gathered on the node by verify.exe, and
// [Compare] makes findings of them. It reads no node (package agent does), it
// reaches none (package guest does), and it changes nothing (package deploy
// does).
package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/winsvc"
	"github.com/winbake/winbake/payload"
)

// APIVersion is that of node.json. A reader that doesn't know the version
// refuses the file: a field that it can't compare would pass unseen.
const APIVersion = "winbake.dev/node/v1"

// FileName is the expectation's name in an image's /winbake and elsewhere.
const FileName = "node.json"

// Expectation is what a node should be: node.json.
type Expectation struct {
	APIVersion string `json:"apiVersion"`
	// Release is the OpenShift release that the payload is for: "4.20".
	Release  string    `json:"release,omitempty"`
	Files    []File    `json:"files"`
	Services []Service `json:"services"`
	// Kept are the payload's files that came with the image below it. They are
	// the operator's own: where they go on a node isn't said here.
	Kept []payload.KeptFile `json:"kept,omitempty"`
}

// File is one file of the payload that has a place on the node.
type File struct {
	Component string `json:"component"`
	// Path is the Windows path, Payload the one below /payload.
	Path    string `json:"path"`
	Payload string `json:"payload"`
	// SHA256 is lower-case hex, Size in bytes, both of the file as it is on
	// the node.
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	// Version is what the pin stamps into the program; "" for none.
	Version string `json:"version,omitempty"`
	// Unsigned is the sha256 of the program as it was built, where SHA256 is that of
	// the signed one.
	Unsigned string `json:"unsigned,omitempty"`
}

// Service is one Windows service as it should be.
type Service struct {
	winsvc.Service
	// Log is the file into which the program writes its version; "" where
	// none tells.
	Log string `json:"log,omitempty"`
	// Version is what it should write there; "" where that isn't known.
	Version string `json:"version,omitempty"`
}

// Parse reads node.json strictly. The error is a fault.
func Parse(data []byte) (*Expectation, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var e Expectation
	if err := dec.Decode(&e); err != nil {
		return nil, malformed("can't be read: %v", err)
	}
	if e.APIVersion != APIVersion {
		return nil, &fault.Error{Where: FileName, What: fmt.Sprintf("has apiVersion %q, this program reads %q", e.APIVersion, APIVersion),
			Fix: "use the release of winbake that made the payload"}
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, malformed("something follows the end of its JSON")
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	return &e, nil
}

func malformed(what string, args ...any) error {
	return &fault.Error{Where: FileName, What: fmt.Sprintf(what, args...), Fix: "make the payload again: bake payload"}
}

// check refuses what would make a file or a service of nothing, or two of one.
func (e *Expectation) check() error {
	seen := map[string]bool{}
	for _, f := range e.Files {
		if !isSum(f.SHA256) || f.Size < 0 || f.Payload == "" || !winsvc.LegalPath(f.Path) {
			return malformed("the file %q lacks a sum, a size or an absolute path", f.Path)
		}
		if seen[foldPath(f.Path)] {
			return malformed("two files are to be %s", f.Path)
		}
		seen[foldPath(f.Path)] = true
	}
	for _, f := range e.Files {
		for dir := winsvc.Directory(foldPath(f.Path)); len(dir) > 3; dir = winsvc.Directory(dir) {
			if seen[dir] {
				return malformed("%s is to be a file and the folder of %s", dir, f.Path)
			}
		}
	}
	for _, k := range e.Kept {
		sum, ok := strings.CutPrefix(k.Base, "sha256:")
		if !isSum(k.SHA256) || k.Size < 0 || k.Path == "" || !ok || !isSum(sum) {
			return malformed("the kept file %q lacks a sum, a size or its base", k.Path)
		}
	}
	clear(seen)
	for _, s := range e.Services {
		// An image may have been made by anything: the rules are those of versions.yaml.
		found := winsvc.ValidateOne(s.Service)
		switch {
		case len(found) > 0:
			return malformed("the service %q: %s", s.Name, found[0].What)
		case !s.Standalone():
			return malformed("only WMCO can set up the service %q", s.Name)
		case s.Log != "" && !winsvc.LegalPath(s.Log):
			return malformed("the service %q: its log %q isn't an absolute path", s.Name, s.Log)
		case seen[strings.ToLower(s.Name)]:
			return malformed("two services are to be called %s", s.Name)
		}
		seen[strings.ToLower(s.Name)] = true
	}
	return nil
}

func isSum(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// Encode writes e as node.json: the same expectation gives the same bytes.
func (e *Expectation) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", FileName, err)
	}
	return append(data, '\n'), nil
}

// SamePath tells whether two Windows paths name one file: in any case, with
// either separator.
func SamePath(a, b string) bool { return foldPath(a) == foldPath(b) }

func foldPath(p string) string { return strings.ToLower(strings.ReplaceAll(p, "/", `\`)) }

// Base is the last part of a Windows path.
func Base(p string) string {
	return p[strings.LastIndexAny(p, `\/`)+1:]
}
