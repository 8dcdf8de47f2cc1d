package gomod

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"go/version"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/build/pins"
)

// NoGoLine is the language version that Go takes for a go.mod without a go
// line (https://go.dev/ref/mod#go-mod-file-go).
const NoGoLine = "1.16"

// SetGodebug writes what a component sets instead of its go.mod's GODEBUG into f;
// nil sets nothing.
func SetGodebug(f *modfile.File, o *pins.Godebug) error {
	if o == nil {
		return nil
	}
	if o.Go != "" {
		if err := f.AddGoStmt(o.Go); err != nil {
			return fmt.Errorf("set the go line: %w", err)
		}
	}
	for _, g := range slices.Clone(f.Godebug) {
		if err := f.DropGodebug(g.Key); err != nil {
			return fmt.Errorf("drop godebug %s: %w", g.Key, err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Set)) {
		if err := f.AddGodebug(key, o.Set[key]); err != nil {
			return fmt.Errorf("set godebug %s: %w", key, err)
		}
	}
	return nil
}

// Synthesize makes the main module that builds a program of source: a copy of
// upstream's go.mod that requires source itself. name is the component's; it
// reaches no executable, since the main package belongs to source.
//
// Only the main module's go.mod decides GODEBUG and replacements, so both
// have to be upstream's (https://go.dev/doc/godebug). `go mod tidy` isn't
// used: it takes packages of tests along and drifts to other versions.
// locals maps each folder that upstream replaces a module by to the module
// version that holds the same files.
func Synthesize(name string, source module.Version, upstream []byte, locals map[string]module.Version, o *pins.Godebug) (*modfile.File, error) {
	f, err := modfile.Parse(source.String()+"/go.mod", upstream, nil)
	if err != nil {
		return nil, fmt.Errorf("read go.mod of %s: %w", source, err)
	}
	if err := f.AddModuleStmt("winbake.invalid/" + name); err != nil {
		return nil, fmt.Errorf("name the synthetic module: %w", err)
	}
	if f.Go == nil {
		if err := f.AddGoStmt(NoGoLine); err != nil {
			return nil, fmt.Errorf("set the go line: %w", err)
		}
	}
	f.DropToolchainStmt()
	dropForeign(f)
	if err := replaceLocals(f, source.Path, locals); err != nil {
		return nil, err
	}
	if err := f.AddRequire(source.Path, source.Version); err != nil {
		return nil, fmt.Errorf("require %s: %w", source, err)
	}
	if err := SetGodebug(f, o); err != nil {
		return nil, err
	}
	f.SortBlocks()
	f.Cleanup()
	return f, nil
}

// dropForeign removes what speaks of upstream's own development: its tools,
// the folders it ignores and the versions that it took back.
func dropForeign(f *modfile.File) {
	// Dropping what was just listed can't fail.
	for _, t := range slices.Clone(f.Tool) {
		_ = f.DropTool(t.Path)
	}
	for _, i := range slices.Clone(f.Ignore) {
		_ = f.DropIgnore(i.Path)
	}
	for _, r := range slices.Clone(f.Retract) {
		_ = f.DropRetract(r.VersionInterval)
	}
}

// LocalReplaces returns the modules that go.mod replaces by a folder of its
// own tree, with that folder.
func LocalReplaces(gomod []byte) (map[string]string, error) {
	// ParseLax would leave replacements out.
	f, err := modfile.Parse("go.mod", gomod, nil)
	if err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	local := map[string]string{}
	for _, r := range f.Replace {
		if r.New.Version == "" {
			local[r.Old.Path] = r.New.Path
		}
	}
	return local, nil
}

func replaceLocals(f *modfile.File, self string, locals map[string]module.Version) error {
	for _, r := range slices.Clone(f.Replace) {
		old, folder := r.Old, r.New
		if folder.Version != "" {
			continue
		}
		if err := f.DropReplace(old.Path, old.Version); err != nil { // clears r
			return fmt.Errorf("drop the replacement of %s: %w", old.Path, err)
		}
		if old.Path == self {
			continue
		}
		v, ok := locals[old.Path]
		if !ok {
			return fmt.Errorf("%s is replaced by the folder %s, and no module version is known that holds the same", old.Path, folder.Path)
		}
		if err := f.AddReplace(old.Path, old.Version, v.Path, v.Version); err != nil {
			return fmt.Errorf("replace %s: %w", old.Path, err)
		}
	}
	return nil
}

// LocalVersion returns the version under which a module that source replaces
// by a folder is published beside it. Two habits exist: a nested module has a
// tag of its own with the same version (csi-proxy/client), and Kubernetes
// publishes v1.N.P of its staging folder as v0.N.P.
func LocalVersion(source module.Version, path string) (string, bool) {
	if strings.HasPrefix(path, source.Path+"/") {
		return source.Version, true
	}
	minor, ok := strings.CutPrefix(source.Version, "v1.")
	if ok && source.Path == "k8s.io/kubernetes" && strings.HasPrefix(path, "k8s.io/") {
		return "v0." + minor, true
	}
	return "", false
}

// Drift compares the versions that a program links with the ones that
// upstream's go.mod selects, and returns a line for each that differs. From
// go 1.17 on a go.mod names every module that its packages need, so a module
// that upstream doesn't name is a difference too.
func Drift(linked []LinkedModule, source module.Version, upstream []byte, locals map[string]module.Version) ([]string, error) {
	f, err := modfile.Parse(source.String()+"/go.mod", upstream, nil)
	if err != nil {
		return nil, fmt.Errorf("read go.mod of %s: %w", source, err)
	}
	want := map[string]string{source.Path: source.Version}
	for _, r := range f.Require {
		want[r.Mod.Path] = r.Mod.Version
	}
	for _, r := range f.Replace {
		if v, ok := locals[r.Old.Path]; ok {
			want[r.Old.Path] = v.String()
		} else if r.New.Version != "" && (r.Old.Version == "" || r.Old.Version == want[r.Old.Path]) {
			want[r.Old.Path] = r.New.String()
		}
	}
	complete := f.Go != nil && version.Compare("go"+f.Go.Version, "go1.17") >= 0
	var drift []string
	for _, m := range linked {
		got := m.Version
		if m.Replace != nil {
			got = module.Version{Path: m.Replace.Path, Version: m.Replace.Version}.String()
		}
		switch w, ok := want[m.Path]; {
		case !ok && complete:
			drift = append(drift, fmt.Sprintf("%s: upstream doesn't name it, the lock would take %s", m.Path, got))
		case ok && w != got:
			drift = append(drift, fmt.Sprintf("%s: upstream has %s, the lock would take %s", m.Path, w, got))
		}
	}
	return drift, nil
}

// Sums are the h1 sums of a go.sum file, keyed by "path version" for a
// module's files and "path version/go.mod" for its go.mod alone.
type Sums map[string]string

// ParseSums reads a go.sum file. Lines that aren't of go.sum's form are left
// to the go command, which refuses them.
func ParseSums(data []byte) Sums {
	sums := Sums{}
	for sc := bufio.NewScanner(bytes.NewReader(data)); sc.Scan(); {
		f := strings.Fields(sc.Text())
		if len(f) == 3 && strings.HasPrefix(f[2], "h1:") {
			sums[f[0]+" "+f[1]] = f[2]
		}
	}
	return sums
}

// Of returns the h1 of a module's files, or "".
func (s Sums) Of(path, version string) string { return s[path+" "+version] }

// Checker hashes modules in the module cache and compares them with their
// sums. One module is hashed once in a Checker's life, however many programs
// are built from it.
type Checker struct{ sums sync.Map } // functions that give a sum

// Check hashes every module's folder against sums. The go command doesn't: it
// compares the sum of the zip it once downloaded, so a file edited in the
// module cache is compiled and the executable still names the genuine h1.
func (c *Checker) Check(ctx context.Context, modules []LinkedModule, sums Sums) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, m := range modules {
		if m.Local() {
			continue // checked as part of its tree
		}
		g.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return c.checkOne(m.Used(), sums)
		})
	}
	return g.Wait()
}

func (c *Checker) checkOne(m LinkedModule, sums Sums) error {
	want := sums.Of(m.Path, m.Version)
	if want == "" {
		return &fault.Error{
			What: fmt.Sprintf("no h1 sum for module %s %s", m.Path, m.Version),
			Fix:  "lock the component again: bake lock",
		}
	}
	got, err := c.sumOf(m)
	if err != nil {
		return fmt.Errorf("hash module %s %s: %w", m.Path, m.Version, err)
	}
	if got != want {
		return &fault.Error{
			What:  fmt.Sprintf("the module cache's copy of %s %s was changed: its h1 is %s, the lock's is %s", m.Path, m.Version, got, want),
			Where: m.Dir,
			Fix:   "move the copy aside and run the command again: mv " + shell.Word(m.Dir) + " " + shell.Word(m.Dir+".changed"),
		}
	}
	return nil
}

func (c *Checker) sumOf(m LinkedModule) (string, error) {
	sum, _ := c.sums.LoadOrStore(m, sync.OnceValues(func() (string, error) {
		if _, err := os.Stat(m.Dir); err != nil {
			return "", err
		}
		return dirhash.HashDir(m.Dir, m.Path+"@"+m.Version, dirhash.Hash1)
	}))
	return sum.(func() (string, error))()
}
