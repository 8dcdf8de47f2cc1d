package pins

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v3"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

var (
	nameForm     = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
	releaseForm  = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)
	goForm       = regexp.MustCompile(`^(local|1\.[0-9]+(\.[0-9]+|rc[0-9]+)?)$`)
	goLineForm   = regexp.MustCompile(`^1\.[0-9]+(\.[0-9]+)?$`)
	commitForm   = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	sha256Form   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	fipsForm     = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)
	branchForm   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)
	digestForm   = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	variableForm = regexp.MustCompile(`^[A-Za-z0-9_.~/-]+\.[A-Za-z_][A-Za-z0-9_]*$`)
	tagForm      = regexp.MustCompile(`^[A-Za-z0-9_.]+$`)
)

// validator checks what was read against the rules that no type holds.
type validator struct {
	*document
	file *File
}

func (v *validator) check(root *yaml.Node) {
	f := v.file
	v.form(root, f.at, "apiVersion", f.APIVersion, regexp.MustCompile(`^`+regexp.QuoteMeta(APIVersion)+`$`), "apiVersion: "+APIVersion)
	v.form(root, f.at, "release", f.Release, releaseForm, `release: "4.20", the OpenShift release`)
	v.form(root, f.at, "go", f.Go, goForm, `go: "1.26.8", or go: local`)
	if masked(f.Source) != f.Source {
		v.report(f.at["source"], "source holds credentials, and it becomes a label of the image", "take them out of the URL")
	}
	if _, name, found := strings.Cut(f.Base, "@"); found && strings.Contains(name, "/") {
		v.report(f.at["base"], "base holds credentials, and versions.yaml is for everybody to read", "leave them out: podman login keeps them")
	} else if f.Base != "" && !digestForm.MatchString(f.Base) {
		name, _, _ := strings.Cut(f.Base, "@")
		v.report(f.at["base"], "base isn't named by digest, and a tag moves",
			fmt.Sprintf("base: %s@sha256:..., the digest from: skopeo inspect --format '{{.Digest}}' docker://%s", untagged(name), name))
	}
	if len(f.Components)+len(f.Drivers) == 0 {
		v.report(root, "there are no components", "add a list: components:")
	}
	v.unique()
	for i := range f.Components {
		v.one(&f.Components[i])
		v.payload(&f.Components[i], f.Components[i].at)
	}
	for i := range f.Drivers {
		v.one(&f.Drivers[i])
		v.driver(&f.Drivers[i])
	}
	if len(v.Faults) == 0 {
		v.services()
	}
}

// untagged drops a tag; a colon before the last slash is a port's.
func untagged(ref string) string {
	if i := strings.LastIndex(ref, ":"); i > strings.LastIndex(ref, "/") {
		return ref[:i]
	}
	return ref
}

// form reports a missing key at parent, and a value of another form at its
// own place.
func (v *validator) form(parent *yaml.Node, at map[string]*yaml.Node, key, value string, form *regexp.Regexp, example string) {
	switch n := at[key]; {
	case value == "" && n == nil:
		v.report(parent, key+" is missing", "add "+example)
	case !form.MatchString(value):
		v.report(n, fmt.Sprintf("%s can't be %q", key, value), "write "+example)
	}
}

func (v *validator) optional(at map[string]*yaml.Node, key, value string, form *regexp.Regexp, example string) {
	if at[key] != nil {
		v.form(nil, at, key, value, form, example)
	}
}

// unique finds names, paths and basenames that stand twice. WMCO keys
// checksums by basename and refuses a second one, and Windows doesn't tell
// upper case from lower.
func (v *validator) unique() {
	names, paths, bases, places := map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	for _, c := range v.file.All() {
		at := c.at
		v.install(c, at, places)
		if _, twice := names[c.Name]; twice && c.Name != "" {
			v.report(at["name"], fmt.Sprintf("component %q stands here twice", c.Name), "rename one of them")
		}
		names[c.Name] = c.Name
		if c.Payload == "" {
			continue
		}
		full, base := strings.ToLower(c.Payload), strings.ToLower(path.Base(c.Payload))
		if other, twice := paths[full]; twice {
			v.report(at["payload"], fmt.Sprintf("payload path %s is component %s's already", c.Payload, other), "give it another path")
		} else if other, twice := bases[base]; twice {
			v.report(at["payload"], fmt.Sprintf("file name %s is component %s's already; the operator tells files apart by their names", path.Base(c.Payload), other), "give it another name")
		}
		paths[full], bases[base] = c.Name, c.Name
	}
	v.nested(paths)
}

// install checks a component's place on the node, and that no other has it.
func (v *validator) install(c *Component, at map[string]*yaml.Node, places map[string]string) {
	if c.Install == "" {
		return
	}
	if !winsvc.LegalPath(c.Install) {
		v.report(at["install"], fmt.Sprintf("install can't be %q", c.Install), "write the whole path on the node, such as install: 'C:\\k\\"+path.Base(c.Payload)+"'")
		return
	}
	if other, twice := places[strings.ToLower(c.Install)]; twice {
		v.report(at["install"], fmt.Sprintf("%s is component %s's already", c.Install, other), "give it another place on the node")
	}
	places[strings.ToLower(c.Install)] = c.Name
}

func (v *validator) one(c *Component) {
	at := c.at
	v.form(at[""], at, "name", c.Name, nameForm, "name: csi-proxy (lower case letters, digits, dashes and underscores)")
	v.sources(c)
	if c.Program() {
		v.program(c, at)
	}
	if _, err := ParseSize(c.Memory); err != nil {
		v.report(at["memory"], "memory: "+err.Error(), "write memory: 7GiB")
	}
}

// sources checks the keys that name and pin the component's source.
func (v *validator) sources(c *Component) {
	given := map[string]bool{}
	for _, k := range kinds {
		if key := k.source[0]; c.text(key) != "" {
			given[key] = true
		}
	}
	if len(given) != 1 {
		v.report(c.at[""], fmt.Sprintf("component %s has %d sources, it needs one", c.Name, len(given)), "give one of module:, git: and file:")
		return
	}
	kind := c.kind()
	takes := kind.takes()
	for _, key := range slices.Sorted(maps.Keys(c.at)) {
		if !slices.Contains(takes, key) && !slices.Contains(commonKeys, key) {
			v.report(c.at[key], fmt.Sprintf("%s has no meaning for a %s component", key, kind.Kind), "leave it out; such a component takes "+strings.Join(takes, ", "))
		}
	}
	kind.check(v, c)
}

// driver checks what a driver is more than a component's source: its image has no
// path below /payload, and only a git tree is a release's own.
func (v *validator) driver(c *Component) {
	for _, key := range []string{"payload", "install"} {
		if c.at[key] != nil {
			v.report(c.at[key], key+" has no meaning for a driver", "leave it out: a driver becomes an image of its own")
		}
	}
	if c.Kind() != KindGit {
		v.report(c.at[""], fmt.Sprintf("driver %s isn't a program of a git tree", c.Name), "give git:, commit: and package:")
	}
}

func (v *validator) git(c *Component) {
	if what, fix := gitURL(c.Git); what != "" {
		v.report(c.at["git"], what, fix)
	}
	v.form(c.at[""], c.at, "commit", c.Commit, commitForm, "the full commit, all 40 digits: git rev-parse REF^{commit}")
	if c.Version != "" && !semver.IsValid(c.Version) {
		v.report(c.at["version"], fmt.Sprintf("version can't be %q", c.Version), `write a version such as "v1.33.1"`)
	}
	v.optional(c.at, "branch", c.Branch, branchForm, "a branch's name, such as release-4.20")
	for _, key := range []string{"path", "dir"} {
		if p := c.text(key); p != "" && !cleanPath(p) {
			v.report(c.at[key], fmt.Sprintf("%s can't be %q", key, p), "write it relative to the tree's top, with forward slashes")
		}
	}
}

func (v *validator) local(c *Component) {
	v.form(c.at[""], c.at, "sha256", c.SHA256, sha256Form, "the file's sum, 64 digits: sha256sum "+c.File)
	if !c.AllowOutside && !filepath.IsLocal(filepath.FromSlash(c.File)) {
		v.report(c.at["file"], "the file is outside the folder of versions.yaml", "copy it into the folder, or write allow-outside: true beside it")
	}
}

func (v *validator) module(c *Component) {
	at := c.at
	if err := module.CheckPath(c.Module); err != nil {
		v.report(at["module"], fmt.Sprintf("module can't be %q", c.Module), "write a Go module path, such as github.com/kubernetes-csi/csi-proxy")
	}
	canonical := semver.Canonical(c.Version)
	if strings.HasSuffix(c.Version, "+incompatible") {
		canonical += "+incompatible"
	}
	switch {
	case at["version"] == nil:
		v.report(at["module"], "version is missing", `add version: "v1.2.3"`)
	case !semver.IsValid(c.Version) || canonical != c.Version:
		v.report(at["version"], fmt.Sprintf("version can't be %q", c.Version), `write a full module version, such as "v1.3.0"`)
	default:
		_, major, _ := module.SplitPathVersion(c.Module)
		if err := module.CheckPathMajor(c.Version, major); err != nil {
			v.report(at["version"], fmt.Sprintf("version %s isn't one of module %s: %s", c.Version, c.Module, strings.TrimPrefix(err.Error(), "invalid version: ")), "from v2 on a module's path ends in its major version")
		}
	}
	v.optional(at, "commit", c.Commit, commitForm, "all 40 digits")
}

func (v *validator) program(c *Component, at map[string]*yaml.Node) {
	switch {
	case c.Package == "":
		v.report(at[""], fmt.Sprintf("component %s names no package to build", c.Name), "add package: ./cmd/x")
	case c.Package == ".", strings.HasPrefix(c.Package, "./") && cleanPath(c.Package[2:]):
	case strings.HasPrefix(c.Package, "."), module.CheckImportPath(c.Package) != nil:
		v.report(at["package"], fmt.Sprintf("package can't be %q", c.Package), "write ./cmd/x, relative to the module, or a full import path")
	}
	v.optional(at, "go", c.Go, goForm, `go: "1.24.9", or go: local`)
	v.optional(at, "fips", c.FIPS, fipsForm, "fips: v1.0.0")
	for _, tag := range c.Tags {
		if !tagForm.MatchString(tag) {
			v.report(at["tags"], fmt.Sprintf("%q isn't a build tag", tag), "write letters, digits, dots and underscores")
		}
	}
	v.stamps(c, at)
	v.godebug(c, at)
	if s := c.Signed; s != nil {
		switch {
		case !cleanPath(s.File):
			v.report(at["signed"], fmt.Sprintf("signed's file can't be %q", s.File), "write a file below the folder of versions.yaml, with forward slashes")
		case !sha256Form.MatchString(s.SHA256):
			v.report(at["signed"], fmt.Sprintf("signed's sha256 can't be %q", s.SHA256), "write the signed program's sum, 64 digits: sha256sum "+s.File)
		case c.Install == "" || len(v.file.Services) == 0:
			v.report(at["signed"], "the image has no node.json to say what was signed", "add install: 'C:\\k\\"+path.Base(c.Payload)+"' to the component, and services: to the file")
		}
	}
}

func (v *validator) stamps(c *Component, at map[string]*yaml.Node) {
	for name, text := range c.Stamp {
		if !variableForm.MatchString(name) {
			v.report(at["stamp"], fmt.Sprintf("%q isn't a variable's full name", name), "write main.version or path/to/package.Variable")
		}
		if _, err := renderStamp(text, StampData{Version: "v1.2.3", Commit: strings.Repeat("0", 40), Date: "1970-01-01T00:00:00Z", Major: "1", Minor: "2"}); err != nil {
			v.report(at["stamp"], fmt.Sprintf("the value of %s isn't a template: %s", name, err), "use {{.Version}}, {{.Commit}}, {{.Date}}, {{.Major}} and {{.Minor}}")
		}
	}
}

func (v *validator) godebug(c *Component, at map[string]*yaml.Node) {
	g := c.Godebug
	if g == nil {
		return
	}
	if strings.TrimSpace(g.Reason) == "" {
		v.report(at["godebug"], "godebug has no reason", "add reason: why upstream's own go and godebug lines aren't right")
	}
	if g.Go != "" && !goLineForm.MatchString(g.Go) {
		v.report(at["godebug"], fmt.Sprintf("godebug's go can't be %q", g.Go), `write a go line such as "1.23"`)
	}
	for k, val := range g.Set {
		if !tagForm.MatchString(k) || val == "" || strings.ContainsAny(val, ", \t\"'`") {
			v.report(at["godebug"], fmt.Sprintf("godebug can't set %s=%s", k, val), `write set: {winsymlink: "0"}`)
		}
	}
}

// cleanPath reports whether p is relative, slash-separated and without
// anything that a shell, tar or Windows reads otherwise.
func cleanPath(p string) bool {
	return p != "" && p != "." && path.Clean(p) == p && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") &&
		!strings.ContainsAny(p, "\\:*?\"<>|") && strings.IndexFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

func (v *validator) mistake(s *Service, key, what, fix string) {
	v.report(s.place(key, -1), what, fix)
}

// servicePath is the path of the program that a service runs on the node.
func (v *validator) servicePath(s *Service) string {
	switch {
	case s.Component == "" && s.Path == "":
		v.mistake(s, "", fmt.Sprintf("service %s names no program", s.Name), "add component: NAME, or path: 'C:\\k\\x.exe' for one that something else brings")
	case s.Component != "" && s.Path != "":
		v.mistake(s, "path", fmt.Sprintf("service %s names a component and a path", s.Name), "remove path: and let the component's install be it")
	case s.Path != "":
		return s.Path
	}
	if s.Component == "" || s.Path != "" {
		return ""
	}
	var names []string
	for i := range v.file.Components {
		c := &v.file.Components[i]
		if c.Name == s.Component {
			if c.Install == "" {
				v.mistake(s, "component", fmt.Sprintf("component %s has no path on the node", c.Name), "add install: 'C:\\k\\"+c.Name+".exe' to the component")
			}
			return c.Install
		}
		names = append(names, c.Name)
	}
	fix := "add the component, or write path: for a program that something else brings"
	if near := fault.Nearest(s.Component, names); near != "" {
		fix = "did you mean " + near + "?"
	}
	v.mistake(s, "component", fmt.Sprintf("there is no component %q", s.Component), fix)
	return ""
}

func (v *validator) defineRecovery(s *Service) winsvc.Recovery {
	r := winsvc.Recovery{Command: s.Recovery.Command, OnNonCrash: s.Recovery.OnNonCrash}
	if s.Recovery.Reset != "" {
		var err error
		if r.Reset, err = winsvc.ParseDelay(s.Recovery.Reset, time.Second); err != nil {
			v.mistake(s, "recovery", "reset: "+err.Error(), "write reset: 24h")
		}
	}
	for _, text := range s.Recovery.Actions {
		a, err := winsvc.ParseAction(text)
		if err != nil {
			v.mistake(s, "recovery", err.Error(), "write actions: [restart/10s]")
		}
		r.Actions = append(r.Actions, a)
	}
	if len(r.Actions) == 0 {
		v.mistake(s, "recovery", "recovery has no actions", "add actions: [restart/10s], or remove recovery:")
	}
	return r
}
