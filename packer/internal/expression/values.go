package expression

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/base/depth"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
)

// Form is how a var-file of this name is written.
func Form(path string) string {
	if strings.HasSuffix(path, ".json") {
		return `write {"NAME": "value", ...}`
	}
	return `write NAME = "value", one a line`
}

// ReadValues reads a var-file; name is what places in it are called by.
func ReadValues(path, name string) (hcl.Attributes, error) {
	data, err := infile.Read(path, infile.Text)
	if err != nil {
		return nil, &fault.Error{Where: path, What: "the var-file can't be read", Fix: "check --var-file", Err: err}
	}
	file, diags := depth.ParseHCL(data, name)
	values, more := file.Body.JustAttributes()
	if diags = append(diags, more...); diags.HasErrors() {
		return nil, &fault.Error{Where: path, What: "the var-file can't be read: " + diags.Errs()[0].Error(), Fix: Form(path), Err: diags}
	}
	return values, nil
}

// Name is NAME of var.NAME and of var["NAME"].
func Name(t hcl.Traversal) string {
	if len(t) < 2 {
		return ""
	}
	switch step := t[1].(type) {
	case hcl.TraverseAttr:
		return step.Name
	case hcl.TraverseIndex:
		if step.Key.Type() == cty.String {
			return step.Key.AsString()
		}
	}
	return ""
}
