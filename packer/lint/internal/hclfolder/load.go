package hclfolder

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/packer/internal/expression"
)

// Load reads the HCL of a folder, or one file of it, and the values of var-files. Its
// errors are *fault.Error: what is no template, a file that can't be read.
func Load(path string, varFiles []string) (*Folder, error) {
	f := &Folder{Files: map[string][]byte{}, Variables: map[string]*Block{}, Locals: map[string]hclsyntax.Expression{},
		given: map[string]cty.Value{}, Beside: map[string]*hcl.Attribute{}}
	names, err := f.find(path)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := f.parse(name); err != nil {
			return nil, err
		}
	}
	if len(f.Sources)+len(f.Builds)+len(f.Wrong) == 0 {
		return nil, nothing(path, "no .pkr.hcl file has a source or a build")
	}
	if err := f.readValues(varFiles); err != nil {
		return nil, err
	}
	f.evaluate()
	f.merge()
	f.leaveLinux()
	return f, nil
}

// find lists the template's HCL files, as Packer would.
func (f *Folder) find(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &fault.Error{Where: path, What: "there is no such folder", Fix: "check the path", Err: err}
	}
	// What path.root is joined with is found from any folder then.
	if f.Dir, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("find the template: %w", err)
	}
	if !info.IsDir() {
		f.Dir = filepath.Dir(f.Dir)
		if !strings.HasSuffix(path, ".pkr.hcl") {
			return nil, nothing(path, "it is no .pkr.hcl file")
		}
		return []string{filepath.Base(path)}, nil
	}
	folder := os.DirFS(path)
	names, err := fs.Glob(folder, "*.pkr.hcl")
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	f.JSON, _ = fs.Glob(folder, "*.pkr.json")
	if len(names) == 0 {
		return nil, nothing(path, "there is no .pkr.hcl file")
	}
	return names, nil
}

// nothing refuses a folder in which nothing is built: its HCL has the plugins
// of templates from before HCL, say.
// https://developer.hashicorp.com/packer/docs/templates/legacy_json_templates
func nothing(path, what string) error {
	names := []string{path}
	if found, err := filepath.Glob(filepath.Join(path, "*.json")); err == nil {
		names = append(names, found...)
	}
	for _, name := range names {
		data, err := infile.Read(name, infile.Text)
		if err == nil && filepath.Ext(name) == ".json" && bytes.Contains(data, []byte(`"build`)) {
			return &fault.Error{Where: path, What: "templates in JSON are legacy and aren't read", Fix: "packer hcl2_upgrade -with-annotations " + shell.Word(name)}
		}
	}
	return &fault.Error{Where: path, What: what, Fix: "name the folder of a Packer template; bake template writes one"}
}

// parse reads one HCL file and sorts its blocks.
func (f *Folder) parse(name string) error {
	data, err := infile.Read(filepath.Join(f.Dir, name), infile.Text)
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	f.Files[name] = data
	file, diags := expression.Parse(data, name)
	for _, d := range diags {
		if d.Severity == hcl.DiagError && d.Subject != nil {
			f.Wrong = append(f.Wrong, d)
			return nil
		}
	}
	for _, b := range file.Body.(*hclsyntax.Body).Blocks {
		f.sort(&Block{Block: b, File: name})
	}
	return nil
}

func (f *Folder) sort(b *Block) {
	switch labels := len(b.Labels); {
	case b.Type == "variable" && labels == 1:
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
	case b.Type == "local" && labels == 1 && b.Body.Attributes["expression"] != nil:
		f.Locals[b.Labels[0]] = b.Body.Attributes["expression"].Expr
	case b.Type == "packer":
		f.Packer = append(f.Packer, b)
	case b.Type == "source" && labels == 2 && b.Kind() != "file": // that one makes no machine
		f.Sources = append(f.Sources, b)
	case b.Type == "build":
		f.Builds = append(f.Builds, b)
	case b.Type == "data" && labels == 2:
		f.Data = append(f.Data, b)
	}
}
