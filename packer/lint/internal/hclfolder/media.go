package hclfolder

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/packer/internal/expression"
)

// ToolsISO is the ISO of VMware Tools, which ESXi and Workstation have in a
// folder isoimages, one for each kind of guest, and VMware offers as
// VMware-tools-windows-*.iso. A datastore's own isoimages has any ISO.
var ToolsISO = regexp.MustCompile(`(?i)(^|/)(tools-)?isoimages/(windows|linux|darwin|freebsd|solaris|netware|(win|linux|darwin)pre\w+)\.iso$|vmware[-_ ]?tools|vm-?tools`)

// Media are the names of the files that a source has Packer put onto a CD and a floppy,
// in lower case and without their folders. whole reports whether no other file can be
// on a medium of the machine, except on Windows' own ISO.
func (f *Folder) Media(b *hclsyntax.Body) (names map[string]bool, whole bool) {
	names, whole = map[string]bool{}, true
	for name, a := range b.Attributes {
		v := f.Value(a.Expr)
		switch name {
		case "cd_content", "floppy_content":
			keys, known := f.keys(a.Expr)
			whole = whole && known
			for _, key := range keys {
				names[strings.ToLower(path.Base(filepath.ToSlash(key)))] = true
			}
		case "cd_files", "floppy_files", "floppy_dirs":
			whole = whole && v.IsWhollyKnown()
			for _, text := range expression.Texts(v) {
				whole = f.below(text, names) && whole
			}
		case "iso_paths":
			whole = whole && v.CanIterateElements() && v.LengthInt()-len(slices.DeleteFunc(expression.Texts(v), isOther)) < 2
		case "secondary_iso_images", "floppy_img_path", "qemuargs", "vmx_data", "vboxmanage": // they can bring any medium
			whole = whole && expression.IsEmpty(v)
		}
	}
	return names, whole && len(names) > 0 && !slices.ContainsFunc(b.Blocks, func(inner *hclsyntax.Block) bool { return f.Expanded(inner).Type == "additional_iso_files" })
}

func isOther(iso string) bool { return !ToolsISO.MatchString(iso) }

// keys are those of a map, of which a value may not be known.
func (f *Folder) keys(e hclsyntax.Expression) (keys []string, known bool) {
	pairs, diags := hcl.ExprMap(e)
	if v := f.Value(e); diags.HasErrors() {
		if known = v.CanIterateElements() && (v.Type().IsObjectType() || v.Type().IsMapType()); known {
			keys = slices.Collect(maps.Keys(v.AsValueMap()))
		}
		return keys, known
	}
	known = true
	for _, pair := range pairs {
		v := f.Value(pair.Key)
		keys = append(keys, expression.Texts(v)...)
		known = known && v.IsWhollyKnown()
	}
	return keys, known
}

// below adds the names of the files that a path or pattern stands for, those in its
// folders too, and reports whether these are all.
func (f *Folder) below(pattern string, names map[string]bool) bool {
	pattern = strings.TrimPrefix(filepath.FromSlash(pattern), f.Dir+string(filepath.Separator))
	names[strings.ToLower(filepath.Base(pattern))] = true
	if !filepath.IsLocal(pattern) {
		return filepath.Ext(pattern) != ""
	}
	found, err := filepath.Glob(filepath.Join(f.Dir, pattern))
	for _, top := range found {
		err = cmp.Or(err, filepath.WalkDir(top, func(name string, _ fs.DirEntry, err error) error {
			names[strings.ToLower(filepath.Base(name))] = true
			return err
		}))
	}
	return err == nil && len(found) > 0
}
