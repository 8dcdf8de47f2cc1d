package manifests

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// rendered fixes a template.
const rendered = "render it, and give what comes of it"

// brackets are those of Go's templates, and of Jinja's.
var brackets = regexp.MustCompile(`\{\{|\{%|<%`)

// unrendered finds what a template left in JSON: brackets, or a variable that
// envsubst, Flux or OpenShift's Templates put in. Shell scripts have them too, so they
// count in the fields alone that can't be meant for a shell in the container.
var unrendered = regexp.MustCompile(`"(?:image|name|namespace|path|kubernetes\.io/os)":"([^"]*(?:\{\{|\{%|<%|\\u003c%|\$\{\{?[A-Za-z_][^}"]*\})[^"]*)"`)

// ytt are the annotations of Carvel's ytt. They are comments to YAML, so that
// what is there parses, and isn't what is applied.
var ytt = regexp.MustCompile(`(?m)(?:^|[ \t])#@(?:[ \t]|overlay/|data/|schema/|yaml/|library/|ytt)`)

// carvel is the problem of a file that ytt renders.
func carvel(file string, src []byte) *inventory.Problem {
	at := ytt.FindIndex(src)
	if at == nil {
		return nil
	}
	line := 1 + bytes.Count(src[:at[1]-1], []byte("\n"))
	return &inventory.Problem{
		Where: file + ":" + strconv.Itoa(line), What: "this is a template of ytt, and what it says isn't what is applied: render it first",
		Fix: rendered, Command: "ytt -f " + shell.Path(filepath.Dir(file)) + " > rendered.yaml",
	}
}

// render is the command that renders a file, "" where nobody knows of which program
// it is.
func (d *document) render() string {
	if d.file == "<stdin>" {
		return ""
	}
	for dir := filepath.Dir(d.file); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "Chart.yaml")); err == nil {
			return "helm template " + shell.Path(dir) + " > rendered.yaml"
		}
		if up := filepath.Dir(dir); up == dir || dir == "." {
			break
		}
	}
	if brackets.Match(d.text) {
		return "" // of a chart that isn't there
	}
	return "envsubst < " + shell.Path(d.file) + " > rendered.yaml"
}
