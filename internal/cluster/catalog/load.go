package catalog

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
)

//go:embed data/*.yaml
var embedded embed.FS

// Load returns the catalog that the program was built with: the caller's own
// copy.
func Load() (*Catalog, error) { return LoadWith() }

var ownDocuments = sync.OnceValues(func() ([]*document, error) {
	files, err := fs.Glob(embedded, "data/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("read the embedded catalog: %w", err)
	}
	var docs []*document
	for _, name := range files {
		src, err := embedded.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the embedded catalog: %w", err)
		}
		d, err := parse("internal/cluster/catalog/"+name, src)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
})

// LoadWith returns the catalog with overlays on top, in their order. A row of
// an overlay takes the place of the row with the same key: a driver's name, a
// release's minor, csi-proxy's version, the first WMCO version of a range, an
// operator's minor, a payload file's path and first minor, an incompatibility's
// id, in-tree plugin and minor, a gate's key, driver and commit, a digest. A
// release's row may leave out what it doesn't change, and its drivers are merged
// one by one; all other rows are replaced whole. The result is checked as our own
// data is. Errors are *fault.Error with the file, line and column.
func LoadWith(overlays ...Overlay) (*Catalog, error) {
	docs, err := ownDocuments()
	if err != nil {
		return nil, err
	}
	return join(docs, overlays, len(overlays) == 0)
}

// LoadOver is LoadWith for another whole catalog than the embedded one. It may be in
// several documents, of which the one with the date has the apiVersion.
func LoadOver(whole []Overlay, overlays ...Overlay) (*Catalog, error) {
	var docs []*document
	for _, o := range whole {
		d, err := parse(o.Name, o.Data)
		if err != nil {
			return nil, err
		}
		_, dated := d.Node("asOf")
		d.hasHead = dated || len(whole) == 1
		docs = append(docs, d)
	}
	return join(docs, overlays, false)
}

// join puts documents on top of each other. What is embedded and nothing else is
// good: TestOwnDataAsOverlay has checked it.
func join(docs []*document, overlays []Overlay, good bool) (*Catalog, error) {
	m := &merger{into: &Catalog{APIVersion: apiVersion, Kind: kindName}, from: map[rowKey][]rowAt{}, index: map[rowKey]int{}}
	for _, d := range docs {
		if err := m.add(d); err != nil {
			return nil, err
		}
	}
	for _, o := range overlays {
		d, err := parse(o.Name, o.Data)
		if err != nil {
			return nil, err
		}
		d.hasHead = true
		if err := m.add(d); err != nil {
			return nil, err
		}
	}
	m.into.sort()
	if good {
		return m.into, nil
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return m.into, nil
}

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
	names := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, unreadable(path, err)
		}
		names = nil
		for _, e := range entries {
			if !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(e.Name()))) {
				names = append(names, filepath.Join(path, e.Name()))
			}
		}
		if len(names) == 0 {
			return nil, &fault.Error{Where: path, What: "the folder has no *.yaml, *.yml or *.json file", Fix: "name the folder that holds the catalog data, or the file itself"}
		}
	}
	var overlays []Overlay
	for _, name := range names {
		data, err := infile.Read(name, infile.Text)
		if err != nil {
			return nil, unreadable(name, err)
		}
		overlays = append(overlays, Overlay{name, data})
	}
	return overlays, nil
}

func unreadable(path string, err error) error {
	what := "the catalog data can't be read: " + infile.Cause(err)
	if errors.Is(err, fs.ErrNotExist) {
		what = "no such file or folder"
	}
	return &fault.Error{Where: path, What: what, Fix: "check the path that was given: --catalog DIR|FILE", Err: err}
}
