// Package hclfolder reads a folder of HCL as Packer would: its variables and locals, its
// sources as builds use them, and the provisioners of each. It judges nothing.
package hclfolder

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Folder is the HCL of a template.
type Folder struct {
	Dir   string            // absolute
	Files map[string][]byte // the HCL files, by name
	JSON  []string          // names of files in HCL's JSON, which aren't read
	Wrong []*hcl.Diagnostic // the first mistake of each file that can't be parsed

	Variables map[string]*Block
	Locals    map[string]hclsyntax.Expression
	Packer    []*Block
	Sources   []*Block // as builds use them
	Linux     []*Block // sources of another system, left out of Sources
	Builds    []*Block
	Data      []*Block

	Beside  map[string]*hcl.Attribute // values of the folder's own var-files
	given   map[string]cty.Value      // values of all that are read
	context *hcl.EvalContext
}

// Block is a block and the file that it is in.
type Block struct {
	*hclsyntax.Block
	File string

	builds []*Block // those that make an image of a source, none meaning all
}

// Name is its labels: vsphere-iso.windows.
func (b *Block) Name() string { return strings.Join(b.Labels, ".") }

// Kind is its first label: vsphere-iso.
func (b *Block) Kind() string { return b.Labels[0] }

// At is where the first of these attributes is, else the block itself.
func (b *Block) At(names ...string) []string {
	for _, name := range names {
		if a := b.Body.Attributes[name]; a != nil { // what a build adds to a source may be in another file
			return At(a.SrcRange.Filename, a.SrcRange.Start.Line)
		}
	}
	return At(b.File, b.DefRange().Start.Line)
}

// At is a place in a file, for evidence.
func At(file string, line int) []string { return []string{fmt.Sprintf("%s:%d", file, line)} }

// Inner are the bodies of a block's own blocks of a kind, and of dynamic ones.
func Inner(b *hclsyntax.Body, kind string) []*hclsyntax.Body {
	var all []*hclsyntax.Body
	for _, inner := range b.Blocks {
		switch {
		case inner.Type == kind:
			all = append(all, inner.Body)
		case inner.Type == "dynamic" && len(inner.Labels) == 1 && inner.Labels[0] == kind:
			all = append(all, Inner(inner.Body, "content")...)
		}
	}
	return all
}
