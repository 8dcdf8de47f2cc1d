package expect

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/pe"
)

// The linker says nothing of a name that it doesn't find or may not set
// (https://pkg.go.dev/cmd/link, -X), so the value itself is the only proof. The
// version string alone proves nothing: it stands in the build information too.
const silentLinker = "the linker ignores a -X that is misspelt or names a variable that it can't set, in silence"

func (p *Program) stamps(f *pe.File) []finding.Finding {
	if len(p.Stamps) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(p.Stamps))
	return p.compareStamps(names, f.StringVars(names...))
}

func (p *Program) compareStamps(names []string, got map[string]pe.Var) []finding.Finding {
	var fs []finding.Finding
	for _, name := range names {
		if errors.Is(got[name].Err, pe.ErrNoSymbols) {
			return []finding.Finding{p.stripped(names)}
		}
		if fd := p.stamp(name, got[name]); fd != nil {
			fs = append(fs, *fd)
		}
	}
	return fs
}

// stamp compares one variable; nil when it is right.
func (p *Program) stamp(name string, got pe.Var) *finding.Finding {
	want := p.Stamps[name]
	fd := &finding.Finding{
		ID: "binary.stamp", Severity: finding.Block, Expected: name + " = " + strconv.Quote(want),
		Why: "the program reports a wrong version of itself: " + silentLinker, Remedy: p.rebuild(),
	}
	switch {
	case errors.Is(got.Err, pe.ErrNoSymbol):
		fd.Observed = "there is no variable " + name
		fd.Remedy = "correct the name under stamp: of " + p.Component + " in versions.yaml, then " + p.relock()
	case errors.Is(got.Err, pe.ErrDamaged):
		fd.Observed = got.Err.Error()
	case got.Err != nil:
		fd.Severity, fd.Observed = finding.Unknown, got.Err.Error()
		fd.Why = "the variable couldn't be read"
	case got.Value == want:
		return nil
	default:
		fd.Observed = name + " = " + strconv.Quote(got.Value)
	}
	return fd
}

// stripped is one finding for all stamps: without a symbol table none of them
// can be told.
func (p *Program) stripped(names []string) finding.Finding {
	return finding.Finding{
		ID: "binary.stamp", Severity: finding.Unknown,
		Observed: "no symbol table (linked with -s)",
		Expected: fmt.Sprintf("a symbol table with %s", strings.Join(names, ", ")),
		Why:      "whether the program knows its version can't be told: " + silentLinker,
		Remedy:   p.rebuild(),
	}
}
