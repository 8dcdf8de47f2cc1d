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
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/printable"
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
	if err := weigh(top, nil, new(int)); err != nil {
		return b, err
	}
	files := &localFiles{FileSystem: filesys.MakeFsOnDisk(), ctx: ctx, read: map[string]bool{}, bytes: infile.Text * 4}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, top)
	b.Files, b.Missing = slices.Sorted(maps.Keys(files.read)), files.missing
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
	return !reflect.DeepEqual(*k, types.Kustomization{}), types.KustomizationKind, nil
}

var errReadOnly = errors.New("this file system is only read")

// localFiles is the disk, to read from, with kustomization files that name
// nothing remote.
type localFiles struct {
	filesys.FileSystem
	ctx     context.Context //nolint:containedctx // kustomize's interface takes none
	read    map[string]bool
	bytes   int
	missing []Missing
	// failed is the first kustomization file that couldn't be read: the library
	// says of it that it isn't there.
	failed error
}

// ReadFile reads a file within the bounds.
func (l *localFiles) ReadFile(name string) ([]byte, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	src, err := infile.Read(name, infile.Text)
	if err != nil {
		return nil, err
	}
	if l.bytes -= len(src); l.bytes < 0 {
		return nil, fmt.Errorf("its files have more than %d MiB", infile.Text*4>>20)
	}
	file, err := resolve(name)
	if err != nil {
		return nil, err
	}
	first := !l.read[file]
	l.read[file] = true
	if !slices.Contains(Names, filepath.Base(name)) {
		return src, nil
	}
	return l.kustomization(name, src, first)
}

func (l *localFiles) kustomization(name string, src []byte, first bool) ([]byte, error) {
	k, err := parse(src)
	if err != nil {
		l.failed = cmp.Or(l.failed, fmt.Errorf("%s: %w", name, err))
		return nil, err
	}
	var f filter
	kept := f.kustomization(k)
	if len(f.missing) > 0 && kept.GeneratorOptions == nil {
		kept.GeneratorOptions = &types.GeneratorOptions{} // the library refuses one that nothing is left of
	}
	if first {
		for _, what := range f.missing {
			l.missing = append(l.missing, Missing{name, what})
		}
	}
	return yaml.Marshal(kept)
}

func parse(src []byte) (*types.Kustomization, error) {
	var k types.Kustomization
	if err := k.Unmarshal(src); err != nil {
		return nil, err
	}
	k.FixKustomization()
	return &k, nil
}

// Create and the others that write refuse.
func (l *localFiles) Create(string) (filesys.File, error) { return nil, errReadOnly }
func (l *localFiles) Mkdir(string) error                  { return errReadOnly }
func (l *localFiles) MkdirAll(string) error               { return errReadOnly }
func (l *localFiles) RemoveAll(string) error              { return errReadOnly }
func (l *localFiles) WriteFile(string, []byte) error      { return errReadOnly }
func (l *localFiles) Open(string) (filesys.File, error)   { return nil, errReadOnly }

// resolve tells where a file or folder is, without links.
func resolve(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// beside tells of a regular file in a folder or below it.
func beside(dir, name string) bool {
	if looksRemote(name) || !filepath.IsLocal(name) {
		return false
	}
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode().IsRegular()
}

// weigh refuses folders that are too deep in folders, or loaded too often; open are
// those that dir is in. What can't be read and cycles the library tells of.
func weigh(dir string, open []string, loads *int) error {
	dir, err := resolve(dir)
	if err != nil || slices.Contains(open, dir) {
		return nil //nolint:nilerr // the library tells of it
	}
	if *loads++; len(open) >= maxLevels || *loads > maxLoads {
		return fmt.Errorf("folders take in folders more than %d levels deep, or more than %d times in all", maxLevels, maxLoads)
	}
	for _, name := range taken(dir) {
		if err := weigh(filepath.Join(dir, name), append(open, dir), loads); err != nil {
			return err
		}
	}
	return nil
}

func taken(dir string) []string {
	for _, name := range Names {
		src, err := infile.Read(filepath.Join(dir, name), infile.Text)
		if err != nil {
			continue
		}
		k, err := parse(src)
		if err != nil {
			return nil
		}
		return slices.DeleteFunc(slices.Concat(k.Resources, k.Components), func(name string) bool {
			info, err := os.Stat(filepath.Join(dir, name))
			return looksRemote(name) || err != nil || !info.IsDir()
		})
	}
	return nil
}

// filter leaves out of a kustomization what isn't read from local files.
type filter struct{ missing []string }

// kustomization has the fields that are known here, and no others: a field that
// a later version of the library brings may fetch something.
func (f *filter) kustomization(k *types.Kustomization) *types.Kustomization {
	f.tell(k)
	return &types.Kustomization{
		TypeMeta: k.TypeMeta, MetaData: k.MetaData,
		NamePrefix: k.NamePrefix, NameSuffix: k.NameSuffix, Namespace: k.Namespace,
		Labels: labels(k), CommonAnnotations: k.CommonAnnotations,
		Images: k.Images, Replicas: k.Replicas, SortOptions: k.SortOptions,
		GeneratorOptions:   k.GeneratorOptions,
		Resources:          f.local("resource", k.Resources),
		Components:         f.local("component", k.Components),
		Configurations:     f.local("configuration", k.Configurations),
		Patches:            slices.Concat(f.merges(k.PatchesStrategicMerge), f.patches(k.Patches), f.patches(k.PatchesJson6902)),
		Replacements:       slices.DeleteFunc(k.Replacements, func(r types.ReplacementField) bool { return f.remote("replacement", r.Path) }),
		ConfigMapGenerator: slices.DeleteFunc(k.ConfigMapGenerator, func(g types.ConfigMapArgs) bool { return f.generates(g.KvPairSources) }),
		SecretGenerator:    slices.DeleteFunc(k.SecretGenerator, func(g types.SecretArgs) bool { return f.generates(g.KvPairSources) }),
	}
}

// tell notes what runs programs, or is left out as a whole. Validators change
// nothing; CRDs and OpenAPI schemas say how patches merge custom resources.
func (f *filter) tell(k *types.Kustomization) {
	for _, chart := range k.HelmCharts {
		f.missing = append(f.missing, "the Helm chart "+printable.Clip(chart.Name))
	}
	for _, g := range k.Generators {
		f.missing = append(f.missing, "the generator "+printable.Clip(g))
	}
	if len(k.Vars) > 0 {
		f.missing = append(f.missing, "variables (vars)")
	}
	for _, t := range k.Transformers {
		f.missing = append(f.missing, "the transformer "+printable.Clip(t))
	}
}

func (f *filter) local(what string, names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return f.remote(what, name) })
}

// remote tells, and notes, that a path isn't a local one.
func (f *filter) remote(what, name string) bool {
	if !looksRemote(name) {
		return false
	}
	f.missing = append(f.missing, "the remote "+what+" "+printable.Clip(name))
	return true
}

// patches drops those whose file isn't local; inline ones have no path.
func (f *filter) patches(patches []types.Patch) []types.Patch {
	return slices.DeleteFunc(patches, func(p types.Patch) bool { return f.remote("patch", p.Path) })
}

// merges are paths, or patches themselves, which have several lines.
func (f *filter) merges(merges []types.PatchStrategicMerge) []types.Patch {
	var out []types.Patch
	for _, m := range merges {
		if text := string(m); strings.Contains(text, "\n") {
			out = append(out, types.Patch{Patch: text})
		} else if !f.remote("patch", text) {
			out = append(out, types.Patch{Path: text})
		}
	}
	return out
}

// labels are a kustomization's, with those of the field before: of fields that
// are deprecated the library writes to standard error.
func labels(k *types.Kustomization) []types.Label {
	if len(k.CommonLabels) == 0 {
		return k.Labels
	}
	return append([]types.Label{{Pairs: k.CommonLabels, IncludeSelectors: true}}, k.Labels...)
}

// generates tells of a ConfigMap or a Secret out of something remote. It isn't
// noted: no driver is in it.
func (f *filter) generates(s types.KvPairSources) bool {
	return slices.ContainsFunc(slices.Concat(s.FileSources, s.EnvSources, []string{s.EnvSource}), looksRemote)
}

// looksRemote tells of what kustomize might clone or download: an address with a
// scheme, a user, a query, or GitHub's name in front. A local path that looks so
// isn't read either.
// https://github.com/kubernetes-sigs/kustomize/blob/master/examples/remoteBuild.md
func looksRemote(name string) bool {
	name = strings.ToLower(name)
	return strings.ContainsAny(name, ":@?") || strings.HasPrefix(name, "github.com") || strings.HasPrefix(name, "www.github.com")
}

// Bounds of the folders that one takes in. The library loads a folder each time
// that it is named, so folders that name others twice make a power of two, and
// it quotes an error at each level, which doubles its backslashes.
const (
	maxLevels = 16
	maxLoads  = 2000
)
