package manifests

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
)

func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// kustomizationNames are those that kustomize looks for in a folder.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// isKustomization tells a kustomization file by its name. Flux' own kind of that
// name is an object of the cluster.
func isKustomization(file string) bool {
	if !slices.Contains(kustomizationNames, filepath.Base(file)) {
		return false
	}
	src, err := infile.Read(file, infile.Text)
	return !errors.Is(err, fs.ErrNotExist) && !strings.Contains(string(src), "kustomize.toolkit.fluxcd.io/")
}

// unreadForm is what a file is by its name, and what makes manifests of it; ""
// for a file that is none of Kubernetes. Helm's helpers, _x.tpl, hold no object.
func unreadForm(name string) (what, fix, command string) {
	ext := strings.ToLower(filepath.Ext(name))
	inner := isManifest(strings.TrimSuffix(name, filepath.Ext(name)))
	switch {
	case slices.Contains([]string{".j2", ".jinja", ".jinja2", ".tpl", ".tmpl", ".gotmpl", ".erb", ".ytt"}, ext):
		if strings.HasPrefix(filepath.Base(name), "_") {
			return "", "", ""
		}
		return "this is a template", rendered, ""
	case slices.Contains([]string{".tgz", ".tar", ".zip"}, ext) || strings.HasSuffix(strings.ToLower(name), ".tar.gz"):
		return "this is an archive", "unpack it, or give a must-gather with --must-gather", ""
	case inner && ext == ".gz":
		return "this is compressed", "unpack it", "gunzip -k " + shell.Path(name)
	case inner && slices.Contains([]string{".bz2", ".xz", ".zst"}, ext):
		return "this is compressed", "unpack it", ""
	}
	return "", "", ""
}
