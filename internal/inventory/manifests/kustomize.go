package manifests

import (
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
)

// kustomizations are the names that kustomize looks for.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

func isKustomizationFile(name string) bool {
	return slices.Contains(kustomizations, filepath.Base(name))
}

// isKustomization tells kustomize's own kinds, which have no objects in them.
// Flux' kind of the same name has an apiVersion of its own, and isn't wanted
// either.
func isKustomization(kind string) bool { return kind == "Kustomization" || kind == "Component" }

func isOverlay(dir string) bool {
	return slices.ContainsFunc(kustomizations, func(name string) bool { return exists(filepath.Join(dir, name)) })
}

// changes are what kustomize changes in the objects that it takes, so that the
// files beside it aren't what is applied. Labels and namespaces are left out:
// they change no driver.
var changes = []string{
	"images", "patches", "patchesStrategicMerge", "patchesJson6902", "namePrefix", "nameSuffix", "replacements",
	"components", "helmCharts", "transformers", "vars",
}

// kustomization says so where a folder's files aren't what is applied.
func (d *document) kustomization(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if !slices.Contains(changes, name.Value) || len(n.Content[i+1].Content) == 0 && n.Content[i+1].Value == "" {
			continue
		}
		dir := filepath.Dir(d.file)
		return &failure{
			where: d.where(name),
			what:  "kustomize changes what these files say (" + name.Value + "): they aren't what is applied, render them first",
			fix:   "kustomize build " + dir + " > rendered.yaml",
		}
	}
	return nil
}
