package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
)

// folder is a template as it was read.
type folder struct {
	dir   string
	files map[string][]byte // by path below dir: HCL, and what it refers to
	hcl   []string          // names of the HCL files, sorted

	variables map[string]*block
	locals    map[string]hcl.Expression
	packer    []*block
	sources   []*block
	builds    []*block
	data      []*block

	ctx        *hcl.EvalContext
	given      map[string]cty.Value // values of var-files
	unreadable []finding.Finding
}

// block is a block and the file that it is in.
type block struct {
	*hclsyntax.Block
	file string
}

func (b *block) name() string { return strings.Join(b.Labels, ".") }
func (b *block) line() int    { return b.DefRange().Start.Line }

// maxFile bounds what is read of one file: scripts and answer files are small.
const maxFile = 1 << 20

func load(path string, varFiles []string) (*folder, error) {
	f := &folder{dir: path, files: map[string][]byte{}, variables: map[string]*block{}, locals: map[string]hcl.Expression{}, given: map[string]cty.Value{}}
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
		return nil, f.nothing(path)
	}
	for _, name := range varFiles {
		if err := f.readValues(name, true); err != nil {
			return nil, err
		}
	}
	f.evaluate()
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
		return []string{filepath.Base(path)}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	var names []string
	old := ""
	for _, e := range entries {
		switch {
		case strings.HasSuffix(e.Name(), ".pkr.hcl"):
			names = append(names, e.Name())
		case strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), "."):
			old = e.Name()
		}
	}
	if len(names) == 0 && old != "" {
		return nil, &fault.Error{Where: path, What: "there is no .pkr.hcl file, and templates in JSON aren't read", Fix: "packer hcl2_upgrade -with-annotations " + filepath.Join(path, old)}
	}
	if len(names) == 0 {
		return nil, &fault.Error{Where: path, What: "there is no .pkr.hcl file", Fix: "name the folder of a Packer template; bake template writes one"}
	}
	return names, nil
}

// nothing refuses a folder in which nothing is built: its HCL has the plugins
// of templates in JSON, say.
func (f *folder) nothing(path string) error {
	old, _ := filepath.Glob(filepath.Join(f.dir, "*.json"))
	if len(old) > 0 {
		return &fault.Error{Where: path, What: "no .pkr.hcl file has a source or a build, and templates in JSON aren't read", Fix: "packer hcl2_upgrade -with-annotations " + filepath.Join(path, filepath.Base(old[0]))}
	}
	return &fault.Error{Where: path, What: "no .pkr.hcl file has a source or a build", Fix: "name the folder that has both; bake template writes one"}
}

// parse reads one HCL file and sorts its blocks.
func (f *folder) parse(name string) error {
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	f.files[name] = data
	f.hcl = append(f.hcl, name)
	file, diags := hclparse.NewParser().ParseHCL(data, name)
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
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return nil
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
			if p.Type == "provisioner" && len(p.Labels) > 0 {
				all = append(all, &block{p, b.file})
			}
		}
	}
	return all
}

// builder reports whether the template has a builder of one of these kinds.
func (f *folder) builder(kinds ...string) bool {
	return slices.ContainsFunc(f.sources, func(s *block) bool { return slices.Contains(kinds, s.Labels[0]) })
}

// recordedProfile is what bake template wrote the folder for.
func (f *folder) recordedProfile() string {
	var record struct{ Profile string }
	data, err := os.ReadFile(filepath.Join(f.dir, ".winbake.json"))
	if err != nil || json.Unmarshal(data, &record) != nil || record.Profile == "" {
		return "openshift"
	}
	return record.Profile
}
