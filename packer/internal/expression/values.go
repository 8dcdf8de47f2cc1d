package expression

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
)

// ReadValues reads a var-file.
func ReadValues(path string) (hcl.Attributes, error) {
	data, err := infile.Read(path, infile.Text)
	if err != nil {
		return nil, &fault.Error{Where: path, What: "the var-file can't be read", Fix: "check --var-file", Err: err}
	}
	file, diags := Parse(data, path)
	if diags.HasErrors() {
		return nil, Unreadable(path, diags)
	}
	values, diags := file.Body.JustAttributes()
	if diags.HasErrors() {
		return nil, Unreadable(path, diags)
	}
	return values, nil
}

// Unreadable says how a var-file of this name is written.
func Unreadable(path string, diags hcl.Diagnostics) *fault.Error {
	form := `write NAME = "value", one a line`
	if strings.HasSuffix(path, ".json") {
		form = `write {"NAME": "value", ...}`
	}
	return &fault.Error{Where: path, What: "the var-file can't be read: " + diags.Errs()[0].Error(), Fix: form, Err: diags}
}

// Parse reads HCL, in JSON where the name ends so. The file may be nil after an error.
func Parse(data []byte, name string) (*hcl.File, hcl.Diagnostics) {
	if strings.HasSuffix(name, ".json") {
		return hclparse.NewParser().ParseJSON(data, name)
	}
	return hclparse.NewParser().ParseHCL(data, name)
}

// Name is NAME of var.NAME, "" for what is written in another way.
func Name(t hcl.Traversal) string {
	if len(t) > 1 {
		if step, ok := t[1].(hcl.TraverseAttr); ok {
			return step.Name
		}
	}
	return ""
}
