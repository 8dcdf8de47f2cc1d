package hclfolder

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/base/finding"
)

// Folder is the HCL of a template, as Packer would read it.
type Folder struct {
	Dir   string
	Files map[string][]byte // by path below dir: HCL, and what it refers to
	HCL   []string          // names of the HCL files, sorted

	Variables map[string]*Block
	Locals    map[string]hclsyntax.Expression
	Packer    []*Block
	Sources   []*Block // as builds use them
	Linux     []*Block // sources of another system, left out of Sources
	Makes     []*Block // files of Packer's own builder
	Builds    []*Block
	Data      []*Block

	Context    *hcl.EvalContext
	left       int                         // bytes that an expression's functions may return yet
	Given      map[string]cty.Value        // values of var-files that Packer reads
	Beside     map[string][]*hcl.Attribute // values of the folder's own var-files, whether it reads them or not
	Unreadable []finding.Finding
}

// Block is a block and the file that it is in.
type Block struct {
	*hclsyntax.Block
	File string

	// Builds are those that make an image of a source, none meaning all.
	Builds []*Block
}

// Name is its labels: vsphere-iso.windows.
func (b *Block) Name() string { return strings.Join(b.Labels, ".") }
func (b *Block) line() int    { return b.DefRange().Start.Line }

// At is where the first of these attributes stands that is there, else the
// block itself.
func (b *Block) At(names ...string) []string { return b.In(b.Body, names...) }

// In is At for a block inside this one. What a build adds to a source may
// stand in another file.
func (b *Block) In(inner *hclsyntax.Body, names ...string) []string {
	for _, name := range names {
		if a := inner.Attributes[name]; a != nil {
			return At(a.SrcRange.Filename, a.SrcRange.Start.Line)
		}
	}
	return At(b.File, b.line())
}

// At is a place in a file, for evidence.
func At(file string, line int) []string {
	if line == 0 {
		return []string{file}
	}
	return []string{fmt.Sprintf("%s:%d", file, line)}
}
