package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/printable"
)

// Overlay is a partial Catalog document that adds rows or overrides them:
//
//	apiVersion: winbake.dev/catalog/v1
//	digests:
//	  - {digest: "sha256:...", driver: azure-file, version: 1.33.3}
type Overlay struct {
	// Name is shown in errors: the file's path.
	Name string
	Data []byte
}

// ReadOverlays reads a file, or the *.yaml, *.yml and *.json files of a folder
// (not of folders in it) in the order of their names. Errors are *fault.Error.
func ReadOverlays(path string) ([]Overlay, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.IsDir() {
		o, err := readOverlay(path)
		if err != nil {
			return nil, err
		}
		return []Overlay{o}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	var overlays []Overlay
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(e.Name()))) {
			continue
		}
		o, err := readOverlay(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		overlays = append(overlays, o)
	}
	if len(overlays) == 0 {
		return nil, &fault.Error{Where: path, What: "the folder has no *.yaml, *.yml or *.json file", Fix: "name the folder that holds the catalog data, or the file itself"}
	}
	return overlays, nil
}

func readOverlay(path string) (Overlay, error) {
	f, err := infile.Open(path)
	if err != nil {
		return Overlay{}, unreadable(path, err)
	}
	defer f.Close()
	// One byte more than is allowed, so that parse can tell.
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return Overlay{}, unreadable(path, err)
	}
	return Overlay{path, data}, nil
}

func unreadable(path string, err error) error {
	what := "the catalog data can't be read: " + infile.Cause(err)
	if errors.Is(err, fs.ErrNotExist) {
		what = "no such file or folder"
	}
	return &fault.Error{Where: path, What: what, Fix: "check the path that was given: --catalog DIR|FILE", Err: err}
}

var day = regexp.MustCompile(`^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`)

func (d *document) checkHead() error {
	if n, found := d.node("kind"); found && d.catalog.Kind != kindName {
		return d.at(n, "kind "+printable.Quote(d.catalog.Kind)+" isn't known", "write: kind: "+kindName+", or nothing of it")
	}
	switch n, found := d.node("apiVersion"); {
	case !found:
		return d.at(d.root, "apiVersion is missing", "begin the file with: apiVersion: "+apiVersion)
	case d.catalog.APIVersion != apiVersion:
		return d.at(n, fmt.Sprintf("apiVersion %s isn't known", printable.Quote(d.catalog.APIVersion)), "write: apiVersion: "+apiVersion)
	}
	if n, found := d.node("asOf"); found && !day.MatchString(d.catalog.AsOf) {
		return d.at(n, fmt.Sprintf("asOf %s is no day", printable.Quote(d.catalog.AsOf)), `write it as "2026-08-31"`)
	}
	return nil
}
