package lint

import (
	"cmp"
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
	"github.com/winbake/winbake/packer/lint/internal/notation"
)

// folder is a template as it was read.
type folder struct {
	dir   string
	files map[string][]byte // by path below dir: HCL, and what it refers to
	hcl   []string          // names of the HCL files, sorted

	runs     map[string]string // what is executed of each file, but for the HCL files
	scripts  []Script          // the same, and what the HCL itself has executed
	mentions []string          // paths in it at which there is nothing
	missing  []piece           // those of them that Packer stops at, under what names them

	variables map[string]*block
	locals    map[string]hclsyntax.Expression
	packer    []*block
	sources   []*block // as builds use them
	builds    []*block
	data      []*block

	ctx        *hcl.EvalContext
	given      map[string]cty.Value        // values of var-files that Packer reads
	beside     map[string][]*hcl.Attribute // values of the folder's own var-files, whether it reads them or not
	unreadable []finding.Finding
}

// block is a block and the file that it is in.
type block struct {
	*hclsyntax.Block
	file string
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

// maxFile bounds what is read of one file: scripts and answer files are small.
const maxFile = 1 << 20

func load(path string, varFiles []string) (*folder, error) {
	f := &folder{dir: path, files: map[string][]byte{}, runs: map[string]string{}, variables: map[string]*block{}, locals: map[string]hclsyntax.Expression{},
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
		if err := f.parse(name); err != nil {
			return nil, err
		}
	}
	if len(f.sources)+len(f.builds)+len(f.unreadable) == 0 {
		return nil, f.nothing(path, "no .pkr.hcl or .pkr.json file has a source or a build")
	}
	if err := f.readValues(varFiles); err != nil {
		return nil, err
	}
	f.evaluate()
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
		f.dir = filepath.Dir(path)
		if isLegacy(path) {
			return nil, legacy(path, path)
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
		return nil, f.nothing(path, "there is no .pkr.hcl file, nor a .pkr.json one")
	}
	return names, nil
}

// nothing refuses a folder in which nothing is built: its HCL has the plugins
// of templates from before HCL, say.
func (f *folder) nothing(path, what string) error {
	names, _ := filepath.Glob(filepath.Join(path, "*.json"))
	if i := slices.IndexFunc(names, isLegacy); i >= 0 {
		return legacy(path, names[i])
	}
	return &fault.Error{Where: path, What: what, Fix: "name the folder of a Packer template; bake template writes one"}
}

func isLegacy(path string) bool {
	if !strings.HasSuffix(path, ".json") || notation.IsTemplate(path) {
		return false
	}
	data, err := readAt(filepath.Dir(path), filepath.Base(path))
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
			r := ruleOf("template.hcl")
			f.unreadable = append(f.unreadable, finding.Finding{ID: r.ID, Severity: r.Severity, Object: name, Observed: d.Summary, Why: r.Why, Remedy: r.Remedy, Evidence: at(name, line)})
		}
	}
	for _, b := range body.Blocks {
		f.sort(&block{b, name})
	}
	return nil
}

func (f *folder) sort(b *block) {
	switch {
	case b.Type == "variable" && len(b.Labels) == 1:
		f.variables[b.Labels[0]] = b
	case b.Type == "variables": // name = default, for those without a type
		for name, a := range b.Body.Attributes {
			f.variables[name] = &block{&hclsyntax.Block{Type: "variable", Labels: []string{name}, TypeRange: a.SrcRange,
				Body: &hclsyntax.Body{Attributes: hclsyntax.Attributes{"default": a}}}, b.file}
		}
	case b.Type == "locals":
		for name, a := range b.Body.Attributes {
			f.locals[name] = a.Expr
		}
	case b.Type == "local" && len(b.Labels) == 1 && b.Body.Attributes["expression"] != nil:
		f.locals[b.Labels[0]] = b.Body.Attributes["expression"].Expr
	case b.Type == "packer":
		f.packer = append(f.packer, b)
	case b.Type == "source" && len(b.Labels) == 2:
		f.sources = append(f.sources, b)
	case b.Type == "build":
		f.builds = append(f.builds, b)
	case b.Type == "data" && len(b.Labels) == 2:
		f.data = append(f.data, b)
	}
}

// provisioners are the steps of all builds, in their order.
func (f *folder) provisioners() []*block {
	var all []*block
	for _, b := range f.builds {
		for _, p := range b.Body.Blocks {
			if p = f.expanded(p); p.Type == "provisioner" && len(p.Labels) > 0 {
				all = append(all, &block{p, b.file})
			}
		}
	}
	return all
}

// merge makes the sources those that are built. Packer puts what a build's own
// source block has to what it has of the source that it names; it refuses what
// stands in both, as packer validate says.
// https://developer.hashicorp.com/packer/docs/templates/hcl_templates/blocks/build/source
func (f *folder) merge() {
	var all []*block
	for _, s := range f.sources {
		uses, asItIs := f.usesOf(s)
		if asItIs || len(uses) == 0 {
			all = append(all, s)
		}
		all = append(all, uses...)
	}
	f.sources = all
}

// usesOf are the builds' own sources that are made of s, and whether one takes
// s as it is.
func (f *folder) usesOf(s *block) (uses []*block, asItIs bool) {
	named := func(reference string) bool { return strings.TrimPrefix(reference, "source.") == s.name() }
	for _, b := range f.builds {
		if a := b.Body.Attributes["sources"]; a != nil {
			asItIs = asItIs || slices.ContainsFunc(texts(f.value(a.Expr)), named)
		}
		for _, use := range b.Body.Blocks {
			if use.Type != "source" || len(use.Labels) != 1 || !named(use.Labels[0]) {
				continue
			}
			if len(use.Body.Attributes)+len(use.Body.Blocks) == 0 {
				asItIs = true
				continue
			}
			uses = append(uses, f.merged(s, &block{use, b.file}))
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
	return &block{&whole, use.file}
}

// expanded is the block that a dynamic one makes for each of its values.
func (f *folder) expanded(b *hclsyntax.Block) *hclsyntax.Block {
	if b.Type != "dynamic" || len(b.Labels) != 1 {
		return b
	}
	for _, content := range b.Body.Blocks {
		if labels := b.Body.Attributes["labels"]; content.Type == "content" && labels != nil {
			made := *b
			made.Type, made.Labels, made.Body = b.Labels[0], texts(f.value(labels.Expr)), content.Body
			return &made
		}
	}
	return b
}

// builder reports whether the template has a builder of one of these kinds.
func (f *folder) builder(kinds ...string) bool {
	return slices.ContainsFunc(f.sources, func(s *block) bool { return slices.Contains(kinds, s.Labels[0]) })
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
