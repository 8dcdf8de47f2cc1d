package pins

import (
	"reflect"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/strictyaml"
)

// Kind tells the sources apart.
type Kind string

// The kinds of components. What is done with each is in internal/build/component.
const (
	KindModule  Kind = "module"  // a program of a Go module
	KindGit     Kind = "git"     // a program of a git tree
	KindGitFile Kind = "gitfile" // one file of a git tree
	KindFile    Kind = "file"    // a file beside versions.yaml
)

// kind is what versions.yaml has of one kind of component.
type kind struct {
	Kind
	source  []string // the keys that make it this kind
	others  []string // the keys that have a meaning beside source, programKeys and the common ones
	pin     string   // the key that `bake pin` changes
	quoted  bool     // YAML could read the pin as a number
	program bool     // Go builds it
	check   func(*validator, *Component)
}

// kinds are asked in this order; the last one is also that of no source.
var kinds = []kind{
	{KindModule, []string{"module"}, []string{"version", "commit"}, "version", true, true, (*validator).module},
	{KindGitFile, []string{"git", "path"}, []string{"commit", "branch"}, "commit", false, false, (*validator).git},
	{KindGit, []string{"git"}, []string{"commit", "branch", "version", "submodules", "dir"}, "commit", false, true, (*validator).git},
	{KindFile, []string{"file"}, []string{"allow-outside", "sha256"}, "sha256", false, false, (*validator).local},
}

var (
	commonKeys  = []string{"", "name", "payload", "install"}
	programKeys = []string{"package", "stamp", "tags", "fips", "go", "godebug", "memory", "signed"}
)

func (c *Component) kind() *kind {
	i := slices.IndexFunc(kinds, func(k kind) bool {
		return !slices.ContainsFunc(k.source, func(key string) bool { return c.text(key) == "" })
	})
	if i < 0 {
		i = len(kinds) - 1
	}
	return &kinds[i]
}

// Kind tells what the component's source is.
func (c *Component) Kind() Kind { return c.kind().Kind }

// Program reports whether the component is built by Go.
func (c *Component) Program() bool { return c.kind().program }

// Source is where the component comes from, without what pins it.
func (c *Component) Source() string {
	var parts []string
	for _, key := range c.kind().source {
		parts = append(parts, c.text(key))
	}
	return strings.Join(parts, ":")
}

// Pinned is the value that `bake pin` changes; a sum or a commit is cut to 12 digits.
func (c *Component) Pinned() string {
	switch k := c.kind(); k.pin {
	case "commit":
		return c.Commit[:12]
	case "sha256":
		return "sha256:" + c.SHA256[:12]
	default:
		return c.text(k.pin)
	}
}

func (c *Component) text(key string) string {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		if strictyaml.Key(v.Type().Field(i)) == key {
			return v.Field(i).String()
		}
	}
	return ""
}

// takes are the keys that have a meaning for the kind, without the common ones.
func (k *kind) takes() []string {
	keys := slices.Concat(k.source, k.others)
	if k.program {
		keys = append(keys, programKeys...)
	}
	return keys
}
