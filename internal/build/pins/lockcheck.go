package pins

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
)

// Stale is a component whose lock isn't of its pin, and why.
type Stale struct {
	Component string `json:"component"`
	Reason    string `json:"reason"`
}

// Check compares the lock with its pins and with the files beside it. With
// names, only those components are compared.
func (l *Lock) Check(f *File, names ...string) []Stale {
	var stale []Stale
	known := map[string]bool{}
	for _, c := range f.All() {
		known[c.Name] = true
		if len(names) > 0 && !slices.Contains(names, c.Name) {
			continue
		}
		if why := l.staleness(f, c); why != "" {
			stale = append(stale, Stale{c.Name, why})
		}
	}
	if len(names) == 0 {
		stale = append(stale, l.leftOver(f, known)...)
	}
	if len(stale) == 0 {
		if what := l.textsDiffer(f); what != "" {
			stale = append(stale, Stale{LicensesName, what})
		}
	}
	if len(stale) == 0 && l.text != nil {
		if line := firstDifference(l.text, l.encode()); line > 0 {
			stale = append(stale, Stale{lockName, fmt.Sprintf("line %d isn't as bake lock writes it", line)})
		}
	}
	return stale
}

// leftOver finds what is locked and isn't in versions.yaml any more: entries,
// and folders beside lock.yaml.
func (l *Lock) leftOver(f *File, known map[string]bool) []Stale {
	left := map[string]bool{}
	for name := range l.Components {
		left[name] = !known[name]
	}
	entries, _ := os.ReadDir(f.LockDir()) // a folder that isn't there has nothing too much
	for _, e := range entries {
		left[e.Name()] = left[e.Name()] || e.IsDir() && !known[e.Name()]
	}
	var stale []Stale
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if left[name] {
			stale = append(stale, Stale{name, "it is locked, and versions.yaml doesn't have it"})
		}
	}
	return stale
}

// firstDifference is the number of the first line that differs, 0 for none.
func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return 1 + bytes.Count(a[:n], []byte("\n"))
}

func (l *Lock) staleness(f *File, c *Component) string {
	locked := l.Components[c.Name]
	if locked == nil {
		return "it was never locked"
	}
	if locked.Pin != c.PinDigest(f) {
		return "its pin has changed since it was locked"
	}
	if what := locked.differs(f, c); what != "" {
		return what
	}
	if c.Program() && c.Module == "" && (locked.Main == "" || locked.MainModule == "") {
		return "its lock doesn't say which module it is"
	}
	if what := locked.filesDiffer(filepath.Join(f.LockDir(), c.Name), c); what != "" {
		return what
	}
	switch locked.Digest {
	case locked.digest(c.Name):
		return ""
	case "":
		return "its lock has no digest: an older bake wrote it"
	}
	return "its lock isn't what bake lock wrote: it has another digest"
}

// differs says what of a lock isn't its pin's. That the digest of the pin is
// right doesn't tell: a merge of two locks may take it from one and the rest
// from the other.
func (l *Locked) differs(f *File, c *Component) string {
	toolchain, version := "", c.Version
	if c.Program() {
		toolchain = c.Toolchain(f)
	}
	if c.Kind() == KindGit {
		version = "" // it is for stamps, and the pin's digest covers it
	}
	for _, field := range []struct{ name, pinned, locked string }{
		{"module", c.Module, l.Module}, {"version", version, l.Version}, {"git", c.Git, l.Git}, {"toolchain", toolchain, l.Toolchain},
	} {
		if field.locked != field.pinned {
			return fmt.Sprintf("its lock says %s %s, its pin %s", field.name, cmp.Or(field.locked, "none"), cmp.Or(field.pinned, "none"))
		}
	}
	if !commitFits(c, l.Commit) {
		return fmt.Sprintf("its lock says commit %s, which isn't its pin's", cmp.Or(l.Commit, "none"))
	}
	if !sumFits(c, l.SHA256) {
		return fmt.Sprintf("its lock says sha256 %s, which isn't its pin's", cmp.Or(l.SHA256, "none"))
	}
	if c.Git == "" && l.Date != "" {
		return "its lock has a date, which only a git source can prove"
	}
	return ""
}

// commitFits compares a locked commit with the pin's own, or with what a
// module's version says of it.
func commitFits(c *Component, commit string) bool {
	if c.Commit != "" || c.Module == "" {
		return commit == c.Commit
	}
	if commit == "" {
		return true // the proxy didn't tell
	}
	rev, err := module.PseudoVersionRev(c.Version)
	return commitForm.MatchString(commit) && (err != nil || strings.HasPrefix(commit, rev))
}

// sumFits compares a locked file's sum with the pin's. Of a file that something
// else pins, a commit, only the lock has it.
func sumFits(c *Component, sum string) bool {
	if c.SHA256 == "" && !c.Program() {
		return sha256Form.MatchString(sum)
	}
	return sum == c.SHA256
}

// filesDiffer says what of the files beside lock.yaml isn't what it says.
func (l *Locked) filesDiffer(dir string, c *Component) string {
	needed := c.Program() && !l.Vendored
	files := map[string][]byte{}
	for _, file := range []struct{ name, want string }{{"go.mod", l.GoMod}, {"go.sum", l.GoSum}} {
		if file.want == "" {
			if needed {
				return "its lock doesn't say which " + file.name + " it has"
			}
			continue
		}
		data, err := infile.Read(filepath.Join(dir, file.name), infile.Text)
		if err != nil {
			return "its " + file.name + " is missing"
		}
		sum := sha256.Sum256(data)
		if hex.EncodeToString(sum[:]) != file.want {
			return "its " + file.name + " isn't the one that was locked"
		}
		files[file.name] = data
	}
	if c.Module == "" {
		return ""
	}
	return l.ofModule(c, files["go.mod"], files["go.sum"])
}

// ofModule says what of a synthetic main module isn't about the pinned module.
func (l *Locked) ofModule(c *Component, mod, sums []byte) string {
	main, err := modfile.ParseLax("go.mod", mod, nil)
	if err != nil || !slices.ContainsFunc(main.Require, func(r *modfile.Require) bool { return r.Mod.Path == c.Module && r.Mod.Version == c.Version }) {
		return fmt.Sprintf("its go.mod doesn't require %s %s", c.Module, c.Version)
	}
	own := fmt.Sprintf("%s %s %s", c.Module, c.Version, l.Sum)
	if l.Sum == "" || !slices.Contains(strings.Split(string(sums), "\n"), own) {
		return fmt.Sprintf("its go.sum and its lock name different sums of %s %s", c.Module, c.Version)
	}
	return ""
}

// StaleError is the refusal of a stale lock, with the command that fixes it.
func StaleError(f *File, stale []Stale) error {
	var lines, names []string
	for _, s := range stale {
		lines = append(lines, "  "+s.Component+": "+s.Reason)
		if _, err := f.Component(s.Component); err == nil {
			names = append(names, s.Component)
		}
	}
	if len(names) == len(f.All()) {
		names = nil
	}
	return &fault.Error{Where: f.LockDir(), What: "the lock is stale", Excerpt: strings.Join(lines, "\n"), Fix: LockCommand(f, names...), Code: finding.ExitBlock}
}

// Ready is a component with what its lock says of it, and the values of its stamps.
type Ready struct {
	*Component
	Locked *Locked
	Stamps map[string]string
}

// Ready returns the named components, or all, and refuses a lock that isn't theirs.
// epoch is SOURCE_DATE_EPOCH.
func (f *File) Ready(names []string, epoch string) (ready []Ready, err error) {
	if _, _, err := SourceDate(epoch); err != nil {
		return nil, err
	}
	components, err := f.Select(names)
	if err != nil {
		return nil, err
	}
	lock, err := LoadLock(f)
	if err != nil {
		return nil, err
	}
	if stale := lock.Check(f, names...); len(stale) > 0 {
		return nil, StaleError(f, stale)
	}
	for _, c := range components {
		locked := lock.Components[c.Name]
		stamps, err := c.Stamps(locked, epoch)
		if err != nil {
			return nil, err
		}
		ready = append(ready, Ready{c, locked, stamps})
	}
	return ready, nil
}

// Change is one thing that differs between two files of pins and their locks.
type Change struct {
	Component string `json:"component"`
	// What is a key of versions.yaml or lock.yaml, "module PATH", or "API group NAME VERSION"
	// of csi-proxy.
	What string `json:"what"`
	// Old and New are "" where one side doesn't have it.
	Old string `json:"old"`
	New string `json:"new"`
}

// Diff lists what decides the bytes of programs and files and isn't the same: the
// pin, the toolchain, GODEBUG, flags, and each linked module. Components are in the
// order of the new file, those that are gone at the end.
func Diff(before, after *File, was, is *Lock) []Change {
	var all []Change
	for _, c := range after.All() {
		o, _ := before.Component(c.Name) // nil for a new one
		all = append(all, differences(c.Name, facts(before, o, was), facts(after, c, is))...)
	}
	for _, o := range before.All() {
		if _, err := after.Component(o.Name); err != nil {
			all = append(all, differences(o.Name, facts(before, o, was), nil)...)
		}
	}
	return all
}

// facts are a component's by name; none for nil.
func facts(f *File, c *Component, lock *Lock) map[string]string {
	if c == nil {
		return nil
	}
	m := map[string]string{
		"source": c.Source(), "version": c.Version, "commit": c.Commit, "sha256": c.SHA256, "package": c.Package, "dir": c.Dir,
		"tags": strings.Join(c.Tags, ","), "fips": c.FIPS, "payload": c.Payload, "install": c.Install,
	}
	for name, value := range c.Stamp {
		m["stamp "+name] = value
	}
	if c.Program() {
		m["toolchain"] = c.Toolchain(f)
	}
	l := lock.Components[c.Name]
	if l == nil {
		return m
	}
	m["commit"], m["sha256"] = cmp.Or(l.Commit, m["commit"]), cmp.Or(l.SHA256, m["sha256"])
	m["go line"] = l.GoLine
	for setting := range strings.SplitSeq(l.DefaultGODEBUG, ",") {
		if key, value, ok := strings.Cut(setting, "="); ok {
			m["GODEBUG "+key] = value
		}
	}
	for _, group := range l.APIGroups {
		m["API group "+group] = "yes"
	}
	for _, module := range l.Modules {
		used := module.Version
		if module.Replace != nil {
			used = strings.TrimSpace(module.Replace.Path + " " + module.Replace.Version)
		}
		m["module "+module.Path] = used
	}
	return m
}

func differences(name string, before, after map[string]string) []Change {
	keys := map[string]string{}
	maps.Copy(keys, before)
	maps.Copy(keys, after)
	var all []Change
	for _, what := range slices.Sorted(maps.Keys(keys)) {
		if before[what] != after[what] {
			all = append(all, Change{Component: name, What: what, Old: before[what], New: after[what]})
		}
	}
	return all
}

// Stamps renders the component's stamps from its lock. sourceDateEpoch, in
// seconds as SOURCE_DATE_EPOCH has it, replaces the date; "" keeps it. A
// module has none: its h1 covers no date, and proxies tell different ones.
func (c *Component) Stamps(l *Locked, sourceDateEpoch string) (map[string]string, error) {
	if len(c.Stamp) == 0 {
		return nil, nil
	}
	data := StampData{Version: cmp.Or(c.Version, c.Commit), Commit: l.Commit, Date: cmp.Or(l.Date, Epoch)}
	if major, minor, ok := strings.Cut(strings.TrimPrefix(semver.MajorMinor(c.Version), "v"), "."); ok {
		data.Major, data.Minor = major, minor
	}
	if t, set, err := SourceDate(sourceDateEpoch); err != nil {
		return nil, err
	} else if set {
		data.Date = t.Format(time.RFC3339)
	}
	rendered := map[string]string{}
	for name, text := range c.Stamp {
		if data.Commit == "" && strings.Contains(text, ".Commit") {
			return nil, &fault.Error{Where: c.Name, What: fmt.Sprintf("stamp %s uses {{.Commit}}, and the proxy doesn't tell the commit of %s@%s", name, c.Module, c.Version),
				Fix: "add commit: (the tag's full commit) to the component, or take the stamp out"}
		}
		value, err := renderStamp(text, data)
		if err != nil {
			return nil, fmt.Errorf("stamp %s: %w", name, err)
		}
		rendered[name] = value
	}
	return rendered, nil
}
