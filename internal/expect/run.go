package expect

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// Run is what an executable did when it was asked for its version, and for its
// help if it knows no version.
type Run struct {
	Version, Help Answer
}

// Answer is one run of an executable.
type Answer struct {
	Text string // what it wrote
	Exit int
	// Crash is how it crashed, "" for not.
	Crash string
	Err   error // it couldn't be run, or didn't end
}

func (a Answer) fine() bool { return a.Err == nil && a.Exit == 0 && a.Crash == "" }

// Started judges a run. p is nil where no pin is known: then what it says is
// shown, and not compared.
func (p *Program) Started(object string, r Run) []finding.Finding {
	f := finding.Finding{ID: "binary.run", Object: object}
	switch {
	case r.Version.Err != nil || !r.Version.fine() && r.Help.Err != nil:
		f.Severity, f.Observed = finding.Unknown, fmt.Sprint(cmp.Or(r.Version.Err, r.Help.Err))
		f.Why = "what the program does wasn't seen"
	case r.Version.Crash+r.Help.Crash != "":
		f.Severity, f.Observed = finding.Block, "it crashes: "+cmp.Or(r.Version.Crash, r.Help.Crash)
		f.Why = "a program that crashes when it is asked for its version or its help isn't whole"
		f.Remedy = "run it with --version on a Windows node and read what it says"
	case !r.Version.fine() && !r.Help.fine():
		f.Severity = finding.Block
		f.Observed = fmt.Sprintf("--version ends with code %d, --help with code %d: %s", r.Version.Exit, r.Help.Exit, firstLine(r.Help.Text))
		f.Why = "the program doesn't start"
		f.Remedy = "run it with --help on a Windows node and read what it says"
	case !r.Version.fine():
		f.Severity, f.Observed = finding.Info, "it starts, and has no --version"
		f.Why = "that it runs was seen, not which version it takes itself for; its stamps are compared in the file"
	default:
		p.says(&f, r.Version.Text)
	}
	return []finding.Finding{f}
}

func (p *Program) says(f *finding.Finding, text string) {
	f.Observed = firstLine(text)
	if p == nil {
		return
	}
	versions := p.versions()
	for _, v := range versions {
		if slices.Contains(wordsOf(text), v) {
			return
		}
	}
	if len(versions) == 0 {
		f.Severity, f.Why = finding.Info, "no version is stamped in, so there is none to compare"
		return
	}
	f.Severity, f.Expected = finding.Block, strings.Join(versions, " or ")
	f.Why = "the program reports a wrong version of itself"
	f.Remedy = p.rebuild()
}

var versionForm = regexp.MustCompile(`^v?\d+\.\d+\.\d+`)

func (p *Program) versions() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p.Stamps)) {
		if v := p.Stamps[name]; versionForm.MatchString(v) && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// wordsOf takes a text apart where a version can't go on: v1.2.30 isn't v1.2.3.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;:()\"'", r) })
}

// firstLine is the first line with something on it, short enough for a report.
func firstLine(text string) string {
	const most = 120
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(strings.ToValidUTF8(line, "?"))
	if r := []rune(line); len(r) > most {
		return string(r[:most]) + "..."
	}
	return line
}
