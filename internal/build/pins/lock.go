package pins

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
)

// Lock is versions.lock/lock.yaml: what each pin meant when it was
// locked.
type Lock struct {
	APIVersion string             `yaml:"apiVersion"`
	Components map[string]*Locked `yaml:"components"`

	text []byte // lock.yaml as it was read; nil for a lock that wasn't
}

// Locked is one component's lock. Fields that don't apply are empty.
type Locked struct {
	Pin     string `yaml:"pin"`              // PinDigest when it was locked
	Digest  string `yaml:"digest,omitempty"` // of this entry: see digest
	Module  string `yaml:"module,omitempty"`
	Version string `yaml:"version,omitempty"`
	Sum     string `yaml:"sum,omitempty"` // h1 of the module
	Git     string `yaml:"git,omitempty"`
	// Commit is the source's. No sum covers a module's: it is the pin's, or
	// what a proxy told when the version was first locked.
	Commit string `yaml:"commit,omitempty"`
	Tree   string `yaml:"tree,omitempty"`   // hash of the commit's tree
	SHA256 string `yaml:"sha256,omitempty"` // of a carried file
	Date   string `yaml:"date,omitempty"`   // of a git source's commit, RFC 3339 in UTC
	// Main is the import path of a git program's package, and MainModule the
	// module that has it: versions.yaml names a folder, and only the tree's
	// go.mod says what that is called.
	Main       string `yaml:"main,omitempty"`
	MainModule string `yaml:"mainModule,omitempty"`
	// Toolchain is "go1.26.8" or "local".
	Toolchain string `yaml:"toolchain,omitempty"`
	// ToolchainSums are the h1 of its module by system, "linux-amd64 h1:...".
	ToolchainSums []string `yaml:"toolchainSums,omitempty"`
	// ToolchainTexts are the ids of its licence texts: a program links its library.
	ToolchainTexts []string `yaml:"toolchainTexts,omitempty"`
	GoLine         string   `yaml:"goLine,omitempty"`
	Godebug        []string `yaml:"godebug,omitempty"` // "name=value", sorted
	// DefaultGODEBUG is what that toolchain derives of both.
	DefaultGODEBUG string `yaml:"defaultGODEBUG,omitempty"`
	// GoMod and GoSum are the sha256 of the files beside lock.yaml.
	GoMod    string `yaml:"goMod,omitempty"`
	GoSum    string `yaml:"goSum,omitempty"`
	Vendored bool   `yaml:"vendored,omitempty"`
	// APIGroups are csi-proxy's that the program serves or dials, as "disk v1", sorted.
	APIGroups []string `yaml:"apiGroups,omitempty"`
	// Output is what the component was built into, nil where nobody recorded it.
	Output  *Output        `yaml:"output,omitempty"`
	Modules []LockedModule `yaml:"modules,omitempty"`
}

// Output is the sum of a program that was built, and of the action that built it.
type Output struct {
	Action string `yaml:"action"` // "sha256:<hex>"
	SHA256 string `yaml:"sha256"` // "sha256:<hex>" of the program
	Size   int64  `yaml:"size"`   // in bytes
}

// KeepOutput keeps what the component was built into where nothing has changed that
// decides it.
func (l *Locked) KeepOutput(name string, before *Locked) {
	if before != nil && before.inputs().digest(name) == l.inputs().digest(name) {
		l.Output = before.Output
	}
}

// inputs is the lock without what decides nothing of a program.
func (l *Locked) inputs() *Locked {
	i := *l
	i.Output, i.ToolchainTexts, i.Modules = nil, nil, slices.Clone(l.Modules)
	for n := range i.Modules {
		i.Modules[n].Texts = nil
	}
	return &i
}

// LockedModule is a module that a program links. It is written as one line,
// which keeps the file quick to read and its changes easy to review.
type LockedModule struct {
	Path, Version string
	// Sum is the h1 of what is compiled, which is the replacement's if there
	// is one; "" where none exists (vendored).
	Sum      string
	Replace  *ModuleVersion
	Licenses []string // SPDX identifiers
	Texts    []string // ids of its licence texts in licenses.txt
}

// Used is what is compiled: the replacement, if there is one.
func (m LockedModule) Used() ModuleVersion {
	if m.Replace != nil {
		return *m.Replace
	}
	return ModuleVersion{m.Path, m.Version}
}

// ModuleVersion is what replaces a module. A folder has no version.
type ModuleVersion struct{ Path, Version string }

// MarshalText writes "path version [=> path version] sum licences [texts]".
func (m LockedModule) MarshalText() ([]byte, error) {
	fields := []string{m.Path, m.Version}
	if m.Replace != nil {
		fields = append(fields, "=>", m.Replace.Path, cmp.Or(m.Replace.Version, "-"))
	}
	fields = append(fields, cmp.Or(m.Sum, "-"), cmp.Or(strings.Join(m.Licenses, "+"), "-"))
	if len(m.Texts) > 0 {
		fields = append(fields, strings.Join(m.Texts, "+"))
	}
	return []byte(strings.Join(fields, " ")), nil
}

// UnmarshalText reads what MarshalText writes.
func (m *LockedModule) UnmarshalText(text []byte) error {
	f := strings.Fields(string(text))
	if len(f) >= 7 && f[2] == "=>" {
		m.Replace = &ModuleVersion{f[3], noDash(f[4])}
		f = slices.Concat(f[:2], f[5:])
	}
	switch len(f) {
	case 4:
	case 5:
		m.Texts = strings.Split(f[4], "+")
	default:
		return fmt.Errorf("%q isn't a module line", text)
	}
	m.Path, m.Version, m.Sum = f[0], f[1], noDash(f[2])
	if f[3] != "-" {
		m.Licenses = strings.Split(f[3], "+")
	}
	return nil
}

func noDash(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

const (
	lockName = "lock.yaml"
	lockHead = "# Written by bake lock. Don't edit: change versions.yaml and run bake lock.\n"
)

// ErrNoLock is a lock.yaml whose text isn't a lock.
var ErrNoLock = errors.New("not a lock")

// LoadLock reads the lock of f. The error is fs.ErrNotExist where there is
// none, and ErrNoLock where something else is in its place.
func LoadLock(f *File) (*Lock, error) {
	path := filepath.Join(f.LockDir(), lockName)
	data, err := infile.Read(path, infile.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &fault.Error{Where: path, What: "there is no lock", Fix: LockCommand(f), Code: finding.ExitBlock, Err: err}
	}
	if err != nil {
		return nil, &fault.Error{Where: path, What: "the lock can't be read: " + errors.Unwrap(err).Error(), Fix: "take lock.yaml back from version control", Code: finding.ExitBlock, Err: err}
	}
	l, err := parseLock(data)
	if err != nil {
		return nil, &fault.Error{Where: path, What: "the lock can't be read: " + fault.FirstLine(err), Fix: LockCommand(f), Code: finding.ExitBlock, Err: errors.Join(ErrNoLock, err)}
	}
	return l, nil
}

// LockCommand locks the named components of f, or all.
func LockCommand(f *File, names ...string) string {
	command := "bake lock -f " + shell.Word(f.Path)
	for _, n := range names {
		command += " " + shell.Word(n)
	}
	return command
}

func parseLock(data []byte) (*Lock, error) {
	var l Lock
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&l); err != nil {
		return nil, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("a second document, or what is no YAML, comes after it")
	}
	if l.APIVersion != APIVersion {
		return nil, fmt.Errorf("apiVersion is %q, not %s", l.APIVersion, APIVersion)
	}
	for name, c := range l.Components {
		if c == nil {
			return nil, fmt.Errorf("component %s is empty", name)
		}
	}
	if l.Components == nil {
		l.Components = map[string]*Locked{}
	}
	l.text = data
	return &l, nil
}

// Seal makes c the lock of the component called name: it gives it its digest.
func (l *Lock) Seal(name string, c *Locked) {
	c.Digest = c.digest(name)
	l.Components[name] = c
}

// Write writes lock.yaml into dir. A killed run leaves the old or the new
// one.
func (l *Lock) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the lock folder: %w", err)
	}
	if err := atomicfs.WriteFile(filepath.Join(dir, lockName), l.encode()); err != nil {
		return fmt.Errorf("write the lock: %w", err)
	}
	return nil
}

// encode is the text of lock.yaml, the only one that a lock has.
func (l *Lock) encode() []byte {
	l.APIVersion = APIVersion
	return append([]byte(lockHead), encodeYAML(l)...)
}

func encodeYAML(v any) []byte {
	var data bytes.Buffer
	enc := yaml.NewEncoder(&data)
	enc.SetIndent(2)
	if err := enc.Encode(v); err != nil {
		panic("a lock is plain data: " + err.Error())
	}
	return data.Bytes()
}

// digest is the sha256 of the entry's text in lock.yaml, its name and all but
// the digest itself. It tells of accidents (a bad merge, a slip of an editor);
// somebody who changes an entry on purpose can compute it too.
func (l *Locked) digest(name string) string {
	entry := *l
	entry.Digest = ""
	sum := sha256.Sum256(encodeYAML(map[string]*Locked{name: &entry}))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Intact reports whether the entry of that name is as it was written. An older
// bake wrote no digests, and nothing tells.
func (l *Locked) Intact(name string) bool { return l.Digest == "" || l.Digest == l.digest(name) }
