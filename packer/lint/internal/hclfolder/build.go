package hclfolder

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/packer/internal/expression"
)

// Provisioners are the steps of a source's builds in their order, of all builds
// for nil.
func (f *Folder) Provisioners(source *Block) []*Block {
	var all []*Block
	for _, b := range f.Builds {
		if source != nil && len(source.builds) > 0 && !slices.Contains(source.builds, b) {
			continue
		}
		for _, p := range b.Body.Blocks {
			p = f.expanded(p)
			if p.Type == "provisioner" && len(p.Labels) > 0 && (source == nil || f.runsFor(p, source)) {
				all = append(all, &Block{Block: p, File: b.File})
			}
		}
	}
	return all
}

// expanded is the block that a dynamic one makes for each of its values.
func (f *Folder) expanded(b *hclsyntax.Block) *hclsyntax.Block {
	labels, content := b.Body.Attributes["labels"], Inner(b.Body, "content")
	if b.Type != "dynamic" || len(b.Labels) != 1 || labels == nil || len(content) == 0 {
		return b
	}
	made := *b
	made.Type, made.Labels, made.Body = b.Labels[0], expression.Texts(f.Value(labels.Expr)), content[0]
	return &made
}

// runsFor is what only and except say.
// https://developer.hashicorp.com/packer/docs/templates/hcl_templates/onlyexcept
func (f *Folder) runsFor(p *hclsyntax.Block, source *Block) bool {
	for _, name := range []string{"only", "except"} {
		if a := p.Body.Attributes[name]; a != nil {
			if given := expression.Texts(f.Value(a.Expr)); len(given) > 0 && slices.Contains(given, source.Name()) != (name == "only") {
				return false
			}
		}
	}
	return true
}

// merge makes the sources those that are built. Packer puts what a build's own
// source block has to what it has of the source that it names.
// https://developer.hashicorp.com/packer/docs/templates/hcl_templates/blocks/build/source
func (f *Folder) merge() {
	var all, merged []*Block
	for _, s := range f.Sources {
		named := func(reference string) bool { return strings.TrimPrefix(reference, "source.") == s.Name() }
		before := len(merged)
		for _, b := range f.Builds {
			asItIs := false
			if a := b.Body.Attributes["sources"]; a != nil {
				v := f.Value(a.Expr)
				asItIs = !v.IsWhollyKnown() || slices.ContainsFunc(expression.Texts(v), named)
			}
			for _, use := range b.Body.Blocks {
				switch {
				case use.Type != "source" || len(use.Labels) != 1 || !named(use.Labels[0]):
				case len(use.Body.Attributes)+len(use.Body.Blocks) == 0:
					asItIs = true
				default:
					merged = append(merged, f.merged(s, use, b))
				}
			}
			if asItIs {
				s.builds = append(s.builds, b)
			}
		}
		if len(s.builds) > 0 || len(merged) == before {
			all = append(all, s)
		}
	}
	f.Sources = slices.Concat(all, merged)
}

func (f *Folder) merged(s *Block, use *hclsyntax.Block, build *Block) *Block {
	name, _ := f.Text(use.Body, "name")
	body := &hclsyntax.Body{Attributes: maps.Clone(s.Body.Attributes), Blocks: slices.Concat(s.Body.Blocks, use.Body.Blocks)}
	maps.Copy(body.Attributes, use.Body.Attributes)
	delete(body.Attributes, "name")
	whole := *use
	whole.Labels, whole.Body = []string{s.Kind(), cmp.Or(name, s.Labels[1])}, body
	return &Block{Block: &whole, File: build.File, builds: []*Block{build}}
}
