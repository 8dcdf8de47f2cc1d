package hclfolder

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

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/notation"
	"github.com/winbake/winbake/packer/lint/internal/table"
)

// Load reads the HCL of a folder, or one file of it, and the values of var-files. Its
// errors are *fault.Error: what is no template, a file that can't be read.
func Load(ctx context.Context, path string, varFiles []string) (*Folder, error) {
	f := &Folder{Dir: path, Files: map[string][]byte{}, Variables: map[string]*Block{}, Locals: map[string]hclsyntax.Expression{},
		Given: map[string]cty.Value{}, Beside: map[string][]*hcl.Attribute{}}
	names, err := f.find(path)
	if err != nil {
		return nil, err
	}
	// What path.root is joined with is found from any folder then.
	if f.Dir, err = filepath.Abs(f.Dir); err != nil {
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
	if len(f.Sources)+len(f.Builds)+len(f.Unreadable) == 0 {
		return nil, f.nothing(path, path, "no .pkr.hcl or .pkr.json file has a source or a build")
	}
	if err := f.readValues(varFiles); err != nil {
		return nil, err
	}
	if err := f.evaluate(ctx); err != nil {
		return nil, err
	}
	f.merge()
	f.leaveLinux()
	return f, nil
}

// find lists the template's HCL files, as Packer would.
func (f *Folder) find(path string) ([]string, error) {
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
		f.Dir = filepath.Dir(path)
		if isLegacy(path) {
			return nil, legacy(path, path)
		}
		if !notation.IsTemplate(path) {
			return nil, f.nothing(path, f.Dir, "it is no .pkr.hcl or .pkr.json file")
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
func (f *Folder) nothing(where, path, what string) error {
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
func (f *Folder) parse(name string) error {
	data, err := infile.Read(filepath.Join(f.Dir, name), infile.Text)
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	f.Files[name] = data
	f.HCL = append(f.HCL, name)
	body, diags := notation.Parse(name, data)
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			line := 0
			if d.Subject != nil {
				line = d.Subject.Start.Line
			}
			r := table.RuleOf("template.hcl")
			f.Unreadable = append(f.Unreadable, finding.Finding{ID: r.ID, Severity: r.Severity, Object: name, Observed: d.Summary, Why: r.Why, Remedy: r.Remedy, Evidence: At(name, line)})
		}
	}
	if line, path := notation.Escaped(name, data); path != "" {
		f.Unreadable = append(f.Unreadable, finding.Finding{ID: "template.hcl", Severity: finding.Warn, Object: name, Observed: path + " isn't a path", Expected: `\\ for a backslash`,
			Why: "in quotes \\t is a tab, and \\n and \\r end a line", Remedy: `C:\\temp or C:/temp`, Evidence: At(name, line)})
	}
	for _, b := range body.Blocks {
		f.sort(&Block{Block: b, File: name})
	}
	return nil
}

func (f *Folder) sort(b *Block) {
	switch {
	case b.Type == "variable" && len(b.Labels) == 1:
		f.Variables[b.Labels[0]] = b
	case b.Type == "variables": // name = default, for those without a type
		for name, a := range b.Body.Attributes {
			f.Variables[name] = &Block{Block: &hclsyntax.Block{Type: "variable", Labels: []string{name}, TypeRange: a.SrcRange,
				Body: &hclsyntax.Body{Attributes: hclsyntax.Attributes{"default": a}}}, File: b.File}
		}
	case b.Type == "locals":
		for name, a := range b.Body.Attributes {
			f.Locals[name] = a.Expr
		}
	case b.Type == "local" && len(b.Labels) == 1 && b.Body.Attributes["expression"] != nil:
		f.Locals[b.Labels[0]] = b.Body.Attributes["expression"].Expr
	case b.Type == "packer":
		f.Packer = append(f.Packer, b)
	case b.Type == "source" && len(b.Labels) == 2 && b.Labels[0] == "file": // of no machine
		f.Makes = append(f.Makes, b)
	case b.Type == "source" && len(b.Labels) == 2:
		f.Sources = append(f.Sources, b)
	case b.Type == "build":
		f.Builds = append(f.Builds, b)
	case b.Type == "data" && len(b.Labels) == 2:
		f.Data = append(f.Data, b)
	}
}

// Provisioners are the steps of a source's builds in their order, of all builds
// for nil.
func (f *Folder) Provisioners(source *Block) []*Block {
	var all []*Block
	for _, b := range f.Builds {
		if source != nil && len(source.Builds) > 0 && !slices.Contains(source.Builds, b) {
			continue
		}
		for _, p := range b.Body.Blocks {
			if p = f.Expanded(p); p.Type == "provisioner" && len(p.Labels) > 0 && (source == nil || f.runsFor(p, source)) {
				all = append(all, &Block{Block: p, File: b.File})
			}
		}
	}
	return all
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

// Stray is a name in only or except that is like a source's and none, "" for none: Packer
// looks for none. Names of other builders are left of sources that were removed.
func (f *Folder) Stray(p *Block) (word, name string) {
	there, kinds := map[string]bool{}, map[string]bool{"source": true}
	for _, s := range slices.Concat(f.Sources, f.Linux) {
		there[s.Name()], kinds[s.Labels[0]] = true, true
	}
	for _, b := range f.Builds {
		if a := b.Body.Attributes["sources"]; a != nil {
			v := f.Value(a.Expr)
			for _, name := range expression.Texts(v) {
				there[strings.TrimPrefix(name, "source.")] = true
			}
			if !v.IsWhollyKnown() {
				return "", ""
			}
		}
	}
	for _, word := range []string{"only", "except"} {
		if a := p.Body.Attributes[word]; a != nil {
			for _, name := range expression.Texts(f.Value(a.Expr)) {
				if kind, _, _ := strings.Cut(name, "."); !there[name] && kinds[kind] {
					return word, name
				}
			}
		}
	}
	return "", ""
}

// merge makes the sources those that are built. Packer puts what a build's own
// source block has to what it has of the source that it names; it refuses what
// stands in both, as packer validate says.
// https://developer.hashicorp.com/packer/docs/templates/hcl_templates/blocks/build/source
func (f *Folder) merge() {
	var all []*Block
	for _, s := range f.Sources {
		var uses []*Block
		if uses, s.Builds = f.usesOf(s); len(s.Builds) > 0 || len(uses) == 0 {
			all = append(all, s)
		}
		all = append(all, uses...)
	}
	f.Sources = all
}

// usesOf are the builds' own sources that are made of s, and the builds that take
// s as it is, or that don't say here what they take.
func (f *Folder) usesOf(s *Block) (uses, asItIs []*Block) {
	named := func(reference string) bool { return strings.TrimPrefix(reference, "source.") == s.Name() }
	for _, b := range f.Builds {
		isSource := func(b *hclsyntax.Block) bool { return b.Type == "source" }
		a, asIs := b.Body.Attributes["sources"], false
		if a == nil {
			asIs = !slices.ContainsFunc([]*hclsyntax.Block(b.Body.Blocks), isSource)
		} else {
			v := f.Value(a.Expr)
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
			uses = append(uses, f.merged(s, &Block{Block: use, File: b.File, Builds: []*Block{b}}))
		}
		if asIs {
			asItIs = append(asItIs, b)
		}
	}
	return uses, asItIs
}

func (f *Folder) merged(s, use *Block) *Block {
	name, _ := f.Text(use.Body, "name")
	body := &hclsyntax.Body{Attributes: maps.Clone(s.Body.Attributes), Blocks: slices.Concat(s.Body.Blocks, use.Body.Blocks)}
	maps.Copy(body.Attributes, use.Body.Attributes)
	delete(body.Attributes, "name")
	whole := *use.Block
	whole.Labels, whole.Body = []string{s.Labels[0], cmp.Or(name, s.Labels[1])}, body
	return &Block{Block: &whole, File: use.File, Builds: use.Builds}
}

// Expanded is the block that a dynamic one makes for each of its values.
func (f *Folder) Expanded(b *hclsyntax.Block) *hclsyntax.Block {
	if b.Type != "dynamic" || len(b.Labels) != 1 {
		return b
	}
	for _, content := range b.Body.Blocks {
		if content.Type == "content" {
			made := *b
			made.Type, made.Labels, made.Body = b.Labels[0], nil, content.Body
			if labels := b.Body.Attributes["labels"]; labels != nil {
				made.Labels = expression.Texts(f.Value(labels.Expr))
			}
			return &made
		}
	}
	return b
}

// RecordedProfile is what bake template wrote the folder for.
func (f *Folder) RecordedProfile() string {
	var record struct{ Profile string }
	data, err := infile.Read(filepath.Join(f.Dir, ".winbake.json"), infile.Text)
	if err != nil || json.Unmarshal(data, &record) != nil || record.Profile == "" {
		return "openshift"
	}
	return record.Profile
}
