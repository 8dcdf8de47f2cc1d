// Package gomod brings Go modules from the module proxy, checks what is in
// the module cache against its h1 sums, and makes the synthetic main module
// that a program is built from.
//
// It compiles nothing and writes no lock: packages compile and resolve do.
package gomod

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/build/gotool"
)

// Module is one downloaded module, as `go mod download -json` tells it.
type Module struct {
	Path, Version string
	Sum           string // h1: of the module's zip
	GoModSum      string // h1: of its go.mod
	GoMod, Dir    string // paths in the module cache
	Error         string
	Origin        *Origin
}

// Origin is where the proxy says that a module version came from. Not every
// version has one.
type Origin struct {
	VCS, URL, Subdir, Hash, Ref string
}

// Download brings path@version into the module cache. The go command checks
// it against the checksum database.
func Download(ctx context.Context, tool *gotool.Tool, path, version string) (*Module, error) {
	dir, err := os.MkdirTemp("", "winbake-download-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to download from: %w", err)
	}
	defer os.RemoveAll(dir)
	// go mod download wants no module around it; an empty folder has none.
	out, runErr := tool.Output(ctx, dir, gotool.Target(""), "mod", "download", "-json", path+"@"+version)
	var m Module
	if err := json.Unmarshal(out, &m); err != nil {
		if runErr != nil {
			return nil, runErr
		}
		return nil, fmt.Errorf("read go mod download's answer: %w", err)
	}
	if m.Error != "" {
		return nil, downloadFault(path, version, m.Error)
	}
	return &m, runErr
}

// downloadFault says which of the usual reasons a refused download has.
func downloadFault(path, version, message string) error {
	f := &fault.Error{
		What:    fmt.Sprintf("module %s@%s can't be downloaded", path, version),
		Excerpt: printable.NoCredentials(message),
		Fix:     "check the version, and that GOPROXY reaches a proxy that has it (go env GOPROXY)",
	}
	switch {
	case strings.Contains(message, "sumdb"):
		f.What = fmt.Sprintf("module %s@%s can't be checked against the checksum database", path, version)
		f.Fix = "use a version that the checksum database knows, or set GOPRIVATE if the module is your own"
	case strings.Contains(message, "SECURITY ERROR"), strings.Contains(message, "checksum mismatch"):
		f.What = fmt.Sprintf("module %s@%s isn't what its checksum says", path, version)
		f.Fix = "don't build from it: compare with another proxy (GOPROXY=https://proxy.golang.org), then go clean -modcache"
	}
	return f
}

// Commit returns the full commit that the version was made from, or "" where
// the proxy doesn't tell.
func (m *Module) Commit() string {
	if m.Origin == nil || m.Origin.VCS != "git" {
		return ""
	}
	return m.Origin.Hash
}

// Versions asks the module proxy for every version of a module that wasn't
// retracted, oldest first. A proxy may serve versions and refuse the list.
func Versions(ctx context.Context, tool *gotool.Tool, path, current string) ([]string, error) {
	m, err := list(ctx, tool, "-versions", path+"@"+current)
	return m.Versions, err
}

// Retracted is why the authors took a version back; "" where they didn't, and where the
// proxy doesn't tell.
func Retracted(ctx context.Context, tool *gotool.Tool, path, version string) string {
	m, err := list(ctx, tool, "-retracted", path+"@"+version)
	if err != nil {
		return ""
	}
	return strings.Join(m.Retracted, "; ")
}

// list asks go list -m, which wants no module around it.
func list(ctx context.Context, tool *gotool.Tool, flag, module string) (m struct{ Versions, Retracted []string }, err error) {
	dir, err := os.MkdirTemp("", "winbake-list-")
	if err != nil {
		return m, fmt.Errorf("make a folder to ask from: %w", err)
	}
	defer os.RemoveAll(dir)
	out, err := tool.Output(ctx, dir, gotool.Target(""), "list", "-m", flag, "-json", module)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return m, fmt.Errorf("read go list's answer: %w", err)
	}
	return m, nil
}

// tag is how projects name a version: v1.2.3, 1.2.3, release-1.2.3, cmd/agent/v0.3.0.
var tag = regexp.MustCompile(`^(|.*[^0-9A-Za-z.])v?([0-9]+\.[0-9]+(?:\.[0-9]+)?(?:[-+][0-9A-Za-z.+-]+)?)$`)

// Split parts a tag's version, as package semver takes it, from what is before it; ""
// for a tag that is none.
func Split(name string) (prefix, version string) {
	m := tag.FindStringSubmatch(name)
	if m == nil || !semver.IsValid("v"+m[2]) {
		return "", ""
	}
	return m[1], "v" + m[2]
}

// Newer picks, out of versions whose tags have current's prefix, the newest patch of
// current's minor and the newest of all; "" where there is none. Pre-releases count only
// for one who has pinned one. known is false for a current that can't be compared.
func Newer(current string, versions []string) (patch, latest string, known bool) {
	prefix, have := Split(current)
	if have == "" {
		return "", "", false
	}
	newest := map[bool]string{} // of the minor, and of all
	for _, name := range versions {
		of, v := Split(name)
		if v == "" || of != prefix || semver.Compare(v, have) <= 0 || semver.Prerelease(v) != "" && semver.Prerelease(have) == "" {
			continue
		}
		if semver.MajorMinor(v) == semver.MajorMinor(have) && semver.Compare(v, newest[true]) > 0 {
			newest[true], patch = v, name
		}
		if semver.Compare(v, newest[false]) > 0 {
			newest[false], latest = v, name
		}
	}
	return patch, latest, true
}
