package lint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/shell"
	"github.com/winbake/winbake/packer/lint/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/notation"
	"github.com/winbake/winbake/packer/lint/internal/table"
)

// folder is a template as it was read.
type folder struct {
	dir   string
	files map[string][]byte // by path below dir: HCL, and what it refers to
	hcl   []string          // names of the HCL files, sorted

	machines []*block                     // the sources, each once for each of its builds, or an empty one where there is none
	scripts  []Script                     // what the machine that is read is brought, in files and by the HCL itself
	mentions []string                     // paths in the HCL at which there is nothing
	filling  map[string]map[string]string // values that templatefile puts into files
	missing  []piece                      // those of all machines that Packer stops at, under what names them

	variables map[string]*block
	locals    map[string]hclsyntax.Expression
	packer    []*block
	sources   []*block // as builds use them
	makes     []*block // files of Packer's own builder
	builds    []*block
	data      []*block

	ctx        *hcl.EvalContext
	left       int                         // bytes that an expression's functions may return yet
	given      map[string]cty.Value        // values of var-files that Packer reads
	beside     map[string][]*hcl.Attribute // values of the folder's own var-files, whether it reads them or not
	unreadable []finding.Finding
}

// block is a block and the file that it is in.
type block struct {
	*hclsyntax.Block
	file string

	// Of a source: the builds that make an image of it, none meaning all, and
	// what they have executed.
	builds   []*block
	scripts  []Script
	mentions []string // paths at which there is nothing
}

func (b *block) name() string { return strings.Join(b.Labels, ".") }
func (b *block) line() int    { return b.DefRange().Start.Line }

// at is where the first of these attributes stands that is there, else the
// block itself.
func (b *block) at(names ...string) []string { return b.in(b.Body, names...) }

// in is at for a block inside this one. What a build adds to a source may
// stand in another file.
func (b *block) in(inner *hclsyntax.Body, names ...string) []string {
	for _, name := range names {
		if a := inner.Attributes[name]; a != nil {
			return at(a.SrcRange.Filename, a.SrcRange.Start.Line)
		}
	}
	return at(b.file, b.line())
}

func load(ctx context.Context, path string, varFiles []string) (*folder, error) {
	f := &folder{dir: path, files: map[string][]byte{}, variables: map[string]*block{}, locals: map[string]hclsyntax.Expression{},
		given: map[string]cty.Value{}, beside: map[string][]*hcl.Attribute{}}
	names, err := f.find(path)
	if err != nil {
		return nil, err
	}
	// What path.root is joined with is found from any folder then.
	if f.dir, err = filepath.Abs(f.dir); err != nil {
		return nil, fmt.Errorf("find the template: %w", err)
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.parse(name); err != nil {
			return nil, err
		}
	}
	if len(f.sources)+len(f.builds)+len(f.unreadable) == 0 {
		return nil, f.nothing(path, path, "no .pkr.hcl or .pkr.json file has a source or a build")
	}
	if err := f.readValues(varFiles); err != nil {
		return nil, err
	}
	if err := f.evaluate(ctx); err != nil {
		return nil, err
	}
	f.merge()
	f.follow()
	return f, nil
}

// find lists the template's HCL files, as Packer would.
func (f *folder) find(path string) ([]string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &fault.Error{Where: path, What: "no such folder", Fix: "check the path", Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	if !info.IsDir() {
		if err := infile.Check(info); err != nil {
			return nil, fmt.Errorf("read the template: %s: %w", path, err)
		}
		f.dir = filepath.Dir(path)
		if isLegacy(path) {
			return nil, legacy(path, path)
		}
		if !notation.IsTemplate(path) {
			return nil, f.nothing(path, f.dir, "it is no .pkr.hcl or .pkr.json file")
		}
		return []string{filepath.Base(path)}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	var names []string
	for _, e := range entries {
		if notation.IsTemplate(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, f.nothing(path, path, "there is no .pkr.hcl file, nor a .pkr.json one")
	}
	return names, nil
}

// nothing refuses a folder in which nothing is built: its HCL has the plugins
// of templates from before HCL, say.
func (f *folder) nothing(where, path, what string) error {
	names, _ := filepath.Glob(filepath.Join(path, "*.json"))
	if i := slices.IndexFunc(names, isLegacy); i >= 0 {
		return legacy(path, names[i])
	}
	return &fault.Error{Where: where, What: what, Fix: "name the folder of a Packer template; bake template writes one"}
}

func isLegacy(path string) bool {
	if !strings.HasSuffix(path, ".json") || notation.IsTemplate(path) {
		return false
	}
	data, err := expression.ReadAt(filepath.Dir(path), filepath.Base(path))
	return err == nil && notation.IsLegacy(data)
}

func legacy(where, path string) error {
	return &fault.Error{Where: where, What: "templates in the JSON from before HCL aren't read", Fix: "packer hcl2_upgrade -with-annotations " + shell.Word(path)}
}

// parse reads one HCL file and sorts its blocks.
func (f *folder) parse(name string) error {
	data, err := infile.Read(filepath.Join(f.dir, name), infile.Text)
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	f.files[name] = data
	f.hcl = append(f.hcl, name)
	body, diags := notation.Parse(name, data)
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			line := 0
			if d.Subject != nil {
				line = d.Subject.Start.Line
			}
			r := table.RuleOf("template.hcl")
			f.unreadable = append(f.unreadable, finding.Finding{ID: r.ID, Severity: r.Severity, Object: name, Observed: d.Summary, Why: r.Why, Remedy: r.Remedy, Evidence: at(name, line)})
		}
	}
	for _, b := range body.Blocks {
		f.sort(&block{Block: b, file: name})
	}
	return nil
}

func (f *folder) sort(b *block) {
	switch {
	case b.Type == "variable" && len(b.Labels) == 1:
		f.variables[b.Labels[0]] = b
	case b.Type == "variables": // name = default, for those without a type
		for name, a := range b.Body.Attributes {
			f.variables[name] = &block{Block: &hclsyntax.Block{Type: "variable", Labels: []string{name}, TypeRange: a.SrcRange,
				Body: &hclsyntax.Body{Attributes: hclsyntax.Attributes{"default": a}}}, file: b.file}
		}
	case b.Type == "locals":
		for name, a := range b.Body.Attributes {
			f.locals[name] = a.Expr
		}
	case b.Type == "local" && len(b.Labels) == 1 && b.Body.Attributes["expression"] != nil:
		f.locals[b.Labels[0]] = b.Body.Attributes["expression"].Expr
	case b.Type == "packer":
		f.packer = append(f.packer, b)
	case b.Type == "source" && len(b.Labels) == 2 && b.Labels[0] == "file": // of no machine
		f.makes = append(f.makes, b)
	case b.Type == "source" && len(b.Labels) == 2:
		f.sources = append(f.sources, b)
	case b.Type == "build":
		f.builds = append(f.builds, b)
	case b.Type == "data" && len(b.Labels) == 2:
		f.data = append(f.data, b)
	}
}

// provisioners are the steps of a source's builds in their order, of all builds
// for nil.
func (f *folder) provisioners(source *block) []*block {
	var all []*block
	for _, b := range f.builds {
		if source != nil && len(source.builds) > 0 && !slices.Contains(source.builds, b) {
			continue
		}
		for _, p := range b.Body.Blocks {
			if p = f.expanded(p); p.Type == "provisioner" && len(p.Labels) > 0 && (source == nil || f.runsFor(p, source)) {
				all = append(all, &block{Block: p, file: b.file})
			}
		}
	}
	return all
}

// runsFor is what only and except say.
// https://developer.hashicorp.com/packer/docs/templates/hcl_templates/onlyexcept
func (f *folder) runsFor(p *hclsyntax.Block, source *block) bool {
	for _, name := range []string{"only", "except"} {
		if a := p.Body.Attributes[name]; a != nil {
			if given := expression.Texts(f.value(a.Expr)); len(given) > 0 && slices.Contains(given, source.name()) != (name == "only") {
				return false
			}
		}
	}
	return true
}

// merge makes the sources those that are built. Packer puts what a build's own
// source block has to what it has of the source that it names; it refuses what
// stands in both, as packer validate says.
// https://developer.hashicorp.com/packer/docs/templates/hcl_templates/blocks/build/source
func (f *folder) merge() {
	var all []*block
	for _, s := range f.sources {
		var uses []*block
		if uses, s.builds = f.usesOf(s); len(s.builds) > 0 || len(uses) == 0 {
			all = append(all, s)
		}
		all = append(all, uses...)
	}
	f.sources = all
}

// usesOf are the builds' own sources that are made of s, and the builds that take
// s as it is, or that don't say here what they take.
func (f *folder) usesOf(s *block) (uses, asItIs []*block) {
	named := func(reference string) bool { return strings.TrimPrefix(reference, "source.") == s.name() }
	for _, b := range f.builds {
		isSource := func(b *hclsyntax.Block) bool { return b.Type == "source" }
		a, asIs := b.Body.Attributes["sources"], false
		if a == nil {
			asIs = !slices.ContainsFunc([]*hclsyntax.Block(b.Body.Blocks), isSource)
		} else {
			v := f.value(a.Expr)
			asIs = !v.IsWhollyKnown() || slices.ContainsFunc(expression.Texts(v), named)
		}
		for _, use := range b.Body.Blocks {
			if use.Type != "source" || len(use.Labels) != 1 || !named(use.Labels[0]) {
				continue
			}
			if len(use.Body.Attributes)+len(use.Body.Blocks) == 0 {
				asIs = true
				continue
			}
			uses = append(uses, f.merged(s, &block{Block: use, file: b.file, builds: []*block{b}}))
		}
		if asIs {
			asItIs = append(asItIs, b)
		}
	}
	return uses, asItIs
}

func (f *folder) merged(s, use *block) *block {
	name, _ := f.text(use.Body, "name")
	body := &hclsyntax.Body{Attributes: maps.Clone(s.Body.Attributes), Blocks: slices.Concat(s.Body.Blocks, use.Body.Blocks)}
	maps.Copy(body.Attributes, use.Body.Attributes)
	delete(body.Attributes, "name")
	whole := *use.Block
	whole.Labels, whole.Body = []string{s.Labels[0], cmp.Or(name, s.Labels[1])}, body
	return &block{Block: &whole, file: use.file, builds: use.builds}
}

// expanded is the block that a dynamic one makes for each of its values.
func (f *folder) expanded(b *hclsyntax.Block) *hclsyntax.Block {
	if b.Type != "dynamic" || len(b.Labels) != 1 {
		return b
	}
	for _, content := range b.Body.Blocks {
		if content.Type == "content" {
			made := *b
			made.Type, made.Labels, made.Body = b.Labels[0], nil, content.Body
			if labels := b.Body.Attributes["labels"]; labels != nil {
				made.Labels = expression.Texts(f.value(labels.Expr))
			}
			return &made
		}
	}
	return b
}

// recordedProfile is what bake template wrote the folder for.
func (f *folder) recordedProfile() string {
	var record struct{ Profile string }
	data, err := infile.Read(filepath.Join(f.dir, ".winbake.json"), infile.Text)
	if err != nil || json.Unmarshal(data, &record) != nil || record.Profile == "" {
		return "openshift"
	}
	return record.Profile
}
