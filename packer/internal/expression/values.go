package expression

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
)

// ReadValues reads a var-file, and returns its text too. The error is a *fault.Error.
func ReadValues(path string) (hcl.Attributes, []byte, error) {
	data, err := infile.Read(path, infile.Text)
	if err != nil {
		what := "the var-file can't be read: " + err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			what = "there is no such var-file"
		}
		return nil, nil, &fault.Error{Where: path, What: what, Fix: "check --var-file", Err: err}
	}
	file, diags := Parse(data, path)
	if diags.HasErrors() {
		return nil, nil, Unreadable(path, diags)
	}
	values, diags := file.Body.JustAttributes()
	if diags.HasErrors() {
		return nil, nil, Unreadable(path, diags)
	}
	return values, data, nil
}

// Unreadable makes HCL's first complaint of a var-file a fault that says how one is written.
func Unreadable(path string, diags hcl.Diagnostics) error {
	e := &fault.Error{Where: path, What: "the var-file can't be read: " + diags.Errs()[0].Error(), Fix: `write NAME = "value", one a line`, Err: diags}
	if strings.HasSuffix(path, ".json") {
		e.Fix = `write {"NAME": "value", ...}`
	}
	for _, d := range diags {
		if d.Severity == hcl.DiagError && d.Subject != nil {
			e.Where = fmt.Sprintf("%s:%d:%d", path, d.Subject.Start.Line, d.Subject.Start.Column)
			e.What = "the var-file can't be read: " + strings.ToLower(d.Summary[:1]) + d.Summary[1:]
			break
		}
	}
	return e
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
