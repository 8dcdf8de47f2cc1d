package kustomize

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/winbake/winbake/internal/printable"
)

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
