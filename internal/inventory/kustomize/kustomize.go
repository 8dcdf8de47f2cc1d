// Package kustomize builds a folder as `kustomize build` does, with kustomize's
// own library, out of local files alone: it fetches nothing, runs nothing and
// writes nothing.
//
// The library itself clones and downloads what a kustomization names, and has no
// switch against it. So what it reads of a kustomization file is written again
// here, with the fields that are known to read local files only; what was left
// out is told.
package kustomize

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winbake/winbake/internal/infile"
)

// Names are those that kustomize looks for in a folder.
var Names = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// Build is what a folder holds once it is built.
type Build struct {
	// YAML are the objects, in the order of `kustomize build`.
	YAML []byte
	// Files are those that were read, by real absolute path; Folders are the
	// kustomizations that this one takes in.
	Files, Folders []string
	// Missing is what the kustomization names and isn't in YAML.
	Missing []Missing
}

// Missing is something that isn't read here.
type Missing struct {
	// File is the kustomization file that names it.
	File string
	// What is in words: "the remote base https://...", "the Helm chart x".
	What string
}

// Run builds folder. The error is of kustomize itself, or says which bound was
// passed.
func Run(ctx context.Context, folder string) (b Build, err error) {
	defer func() {
		if p := recover(); p != nil { // the library takes some input for its own fault
			err = fmt.Errorf("kustomize gave up: %v", p)
		}
	}()
	top, err := resolve(folder)
	if err != nil {
		return b, err
	}
	if _, err := (&scales{known: map[string]weight{}, open: map[string]bool{}}).weigh(top); err != nil {
		return b, err
	}
	files := &localFiles{FileSystem: filesys.MakeFsOnDisk(), ctx: ctx, read: map[string]bool{}, bytes: infile.Text * 4}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, top)
	b.Files, b.Missing = files.list(), files.missing
	if ctx.Err() != nil {
		return b, ctx.Err()
	}
	if err != nil {
		return b, cmp.Or(files.failed, err)
	}
	for _, f := range b.Files {
		if dir := filepath.Dir(f); dir != top && slices.Contains(Names, filepath.Base(f)) {
			b.Folders = append(b.Folders, dir)
		}
	}
	b.YAML, err = built.AsYaml()
	return b, err
}

// Needed tells whether what a kustomization file says makes other objects of the
// files next to it than they are, or takes in others. Kind is Kustomization or
// Component; an error is one of reading the file.
func Needed(file string) (needed bool, kind string, err error) {
	src, err := infile.Read(file, infile.Text)
	if err != nil {
		return false, "", err
	}
	k, err := parse(src)
	if err != nil {
		return false, "", err
	}
	for _, resource := range k.Resources {
		if !beside(filepath.Dir(file), resource) {
			return true, k.Kind, nil
		}
	}
	k.Resources, k.TypeMeta, k.MetaData = nil, types.TypeMeta{}, nil
	k.ConfigMapGenerator, k.SecretGenerator, k.GeneratorOptions = nil, nil, nil
	k.CommonLabels, k.Labels, k.CommonAnnotations = nil, nil, nil
	k.SortOptions, k.BuildMetadata, k.Validators, k.Crds, k.OpenAPI = nil, nil, nil, nil, nil
	return !empty(*k), types.KustomizationKind, nil
}
