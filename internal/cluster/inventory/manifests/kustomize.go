package manifests

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kustomize"
	"github.com/winbake/winbake/internal/cluster/inventory/yamlnode"
)

func isKustomizationFile(name string) bool {
	return slices.Contains(kustomize.Names, filepath.Base(name))
}

// isKustomization tells kustomize's own kinds, which have no objects in them.
// Flux' kind of the same name has an apiVersion of its own, and isn't wanted
// either.
func isKustomization(kind string) bool { return kind == "Kustomization" || kind == "Component" }

// builtFrom is in front of a folder in the places of what kustomize built of it.
const builtFrom = "kustomize build "

type build struct {
	file string
	kustomize.Build
}

// kustomize reads folders as kustomize builds them. One that another takes in
// isn't read by itself, and neither are the files that went into one. Where the
// files next to a kustomization are what is applied; they are read as they are:
// so their lines are known.
func (r *reader) kustomize(ctx context.Context, files []string) error {
	var builds []build
	taken := map[string]bool{}
	for _, file := range files {
		b, ok, err := r.build(ctx, file)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		builds = append(builds, b)
		for _, dir := range b.Folders {
			taken[dir] = true
		}
	}
	for _, b := range builds {
		if taken[filepath.Dir(realPath(b.file))] {
			continue
		}
		if err := r.built(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// build builds the folder of a kustomization file, where that is needed and can
// be done.
func (r *reader) build(ctx context.Context, file string) (b build, ok bool, err error) {
	needed, kind, err := kustomize.Needed(file)
	switch {
	case err != nil && isFlux(file):
		return b, false, nil
	case err != nil:
		r.noBuild(file, err)
		return b, false, nil
	case !needed || kind != "Kustomization":
		return b, false, nil
	}
	b.file = file
	b.Build, err = kustomize.Run(ctx, filepath.Dir(file))
	if ctx.Err() != nil {
		return b, false, ctx.Err()
	}
	if err != nil {
		r.noBuild(file, err)
		return b, false, nil
	}
	return b, true, nil
}

func (r *reader) noBuild(file string, err error) {
	if !r.fresh(file) {
		return
	}
	r.problem(inventory.Problem{
		Where: file, What: "kustomize can't build this folder, and its files aren't what is applied: " + printable.Clip(infile.Cause(err)),
		Fix: "fix the kustomization, or give what it builds", Command: builtFrom + shell.Path(filepath.Dir(file)),
	})
}

func (r *reader) built(ctx context.Context, b build) error {
	dir := filepath.Dir(b.file)
	for _, file := range b.Files {
		r.seen[file] = true
	}
	for _, m := range b.Missing {
		r.problem(inventory.Problem{
			Where: shown(dir, m.File), What: "kustomize takes in " + m.What + ", and what comes of it wasn't read: nothing is fetched or run here",
			Fix: rendered, Command: builtFrom + shell.Path(dir) + " > rendered.yaml",
		})
	}
	r.files += len(b.Files)
	defer r.endFile(b.file)
	return r.text(ctx, builtFrom+dir, b.YAML)
}

// shown is a real path as seen from a folder that somebody named.
func shown(dir, file string) string {
	rel, err := filepath.Rel(realPath(dir), file)
	if err != nil {
		return file
	}
	return filepath.Join(dir, rel)
}

// builtFile builds the folder of a kustomization file that was given itself.
func (r *reader) builtFile(ctx context.Context, file string) error {
	b, ok, err := r.build(ctx, file)
	switch {
	case err != nil:
		return err
	case ok:
		return r.built(ctx, b)
	}
	return r.folder(ctx, filepath.Dir(file))
}

// isFlux tells Flux' own Kustomization, which is an object of the cluster.
func isFlux(file string) bool {
	src, err := infile.Read(file, infile.Text)
	return err == nil && strings.Contains(string(src), "kustomize.toolkit.fluxcd.io/")
}

// kustomization says so where a kustomization stands among other documents,
// without the folder that it is for.
func (d *document) kustomization(n *yaml.Node) error {
	for _, name := range []string{"resources", "components", "patches", "images", "namespace"} {
		if at := yamlnode.Get(n, name); at != nil && !isKustomizationFile(d.file) {
			return &failure{where: d.where(at), what: "this is a kustomization: give what it builds", fix: "build the folder that it is for, and give what comes of it"}
		}
	}
	return nil
}

// render is the command that renders what the file belongs to, by what lies
// around it.
func (d *document) render() string {
	if d.file == "<stdin>" {
		return "" // nobody knows of which program it is
	}
	if dir, ok := strings.CutPrefix(d.file, builtFrom); ok {
		return builtFrom + shell.Path(dir) + " | envsubst > rendered.yaml"
	}
	for dir := filepath.Dir(d.file); ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, "Chart.yaml")) {
			return "helm template " + shell.Path(dir) + " > rendered.yaml"
		}
		isOverlay := slices.ContainsFunc(kustomize.Names, func(name string) bool { return exists(filepath.Join(dir, name)) })
		if filepath.Base(filepath.Dir(d.file)) != "templates" && isOverlay {
			return builtFrom + shell.Path(dir) + " > rendered.yaml"
		}
		if up := filepath.Dir(dir); up == dir || dir == "." {
			break
		}
	}
	if brackets.Match(d.text) {
		return "" // of a chart that isn't there
	}
	return "envsubst < " + shell.Path(d.file) + " > rendered.yaml"
}
