package pins

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
)

// LicensesName is the file beside lock.yaml with the licence texts of all that the
// programs link.
const LicensesName = "licenses.txt"

// LicenseTexts are licence texts by their ids.
type LicenseTexts map[string]string

// Add takes a file's content in, as UTF-8 with line feeds alone, and returns its id: the
// first 16 hex digits of its sha256.
func (t LicenseTexts) Add(data []byte) (id string) {
	text := string(data)
	if !utf8.Valid(data) { // Latin-1, of authors whose names have accents
		runes := make([]rune, len(data))
		for i, b := range data {
			runes[i] = rune(b)
		}
		text = string(runes)
	}
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	sum := sha256.Sum256([]byte(text))
	id = hex.EncodeToString(sum[:8])
	t[id] = text
	return id
}

const (
	licensesHead = "The licence texts of what the programs link, each once, below the modules that have it.\n"
	textMark     = "=== "
)

// Encode writes each text that the components' modules, or their toolchains, have, in the
// order of the first module of each. It returns nil where no lock names a text. Of texts
// that t doesn't have the error is ErrNoText.
func (t LicenseTexts) Encode(components []*Locked) ([]byte, error) {
	of := map[string]map[string]bool{}
	add := func(what string, ids []string) {
		for _, id := range ids {
			if of[id] == nil {
				of[id] = map[string]bool{}
			}
			of[id][what] = true
		}
	}
	for _, c := range components {
		add("Go "+strings.TrimPrefix(c.Toolchain, "go"), c.ToolchainTexts)
		for _, m := range c.Modules {
			used := m.Used()
			add(used.Path+" "+cmp.Or(used.Version, m.Version), m.Texts)
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	names := func(id string) string { return strings.Join(slices.Sorted(maps.Keys(of[id])), "\n") }
	var b bytes.Buffer
	b.WriteString(licensesHead)
	for _, id := range slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(strings.Compare(names(a), names(b)), strings.Compare(a, b))
	}) {
		text, ok := t[id]
		if !ok {
			return nil, fmt.Errorf("%w: %s of %s", ErrNoText, id, strings.ReplaceAll(names(id), "\n", ", "))
		}
		fmt.Fprintf(&b, "\n%s%s, %d bytes, of:\n%s\n\n%s\n", textMark, id, len(text), names(id), text)
	}
	return b.Bytes(), nil
}

// HasTexts tells whether the lock names any licence text. An older bake named none.
func (l *Locked) HasTexts() bool {
	return len(l.ToolchainTexts) > 0 || slices.ContainsFunc(l.Modules, func(m LockedModule) bool { return len(m.Texts) > 0 })
}

// ErrNoText is a licence text that a lock names and nobody has.
var ErrNoText = errors.New("there is no licence text")

// parseTexts reads what Encode writes. A text that isn't what its id says is left out.
func parseTexts(data []byte) LicenseTexts {
	texts := LicenseTexts{}
	for {
		_, rest, ok := bytes.Cut(data, []byte("\n"+textMark))
		if !ok {
			return texts
		}
		data = rest
		head, rest, _ := bytes.Cut(rest, []byte("\n"))
		_, rest, _ = bytes.Cut(rest, []byte("\n\n"))
		id, size, _ := strings.Cut(string(head), ", ")
		size, _, _ = strings.Cut(size, " ")
		n, err := strconv.Atoi(size)
		if err != nil || n < 0 || n > len(rest) {
			continue
		}
		found := LicenseTexts{}
		if found.Add(rest[:n]) == id {
			texts[id], data = found[id], rest[n:]
		}
	}
}

// Texts reads the licence texts that are locked with the pins of f, none where there is no
// such file.
func Texts(f *File) (LicenseTexts, error) {
	data, err := readTexts(f)
	return parseTexts(data), err
}

func readTexts(f *File) ([]byte, error) {
	path := filepath.Join(f.LockDir(), LicensesName)
	data, err := infile.Read(path, infile.Any)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &fault.Error{Where: path, What: "the licence texts can't be read: " + infile.Cause(err), Fix: LockCommand(f), Code: finding.ExitBlock, Err: err}
	}
	return data, nil
}

// textsDiffer says what is wrong with the licence texts beside the lock; "" for nothing.
func (l *Lock) textsDiffer(f *File) string {
	have, err := readTexts(f)
	if err != nil {
		return err.Error()
	}
	want, err := parseTexts(have).Encode(slices.Collect(maps.Values(l.Components)))
	switch line := firstDifference(have, want); {
	case err != nil:
		return err.Error()
	case line > 0:
		return fmt.Sprintf("line %d isn't as bake lock writes it", line)
	default:
		return ""
	}
}
