package walkthrough

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const docs = "../../../docs/"

// pages are those whose commands this package runs.
func pages(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(docs + "walkthrough-*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(list, docs+"csi-drivers.md")
}

// steps has what all walkthroughs share. A page takes it in where it has a
// comment: <!-- steps -->, or <!-- steps: Heading .. Last heading -->.
const steps = docs + "walkthrough.md"

var stepsComment = regexp.MustCompile(`^<!-- steps(?:: (.+?)(?: \.\. (.+))?)? -->$`)

// shared are the parts of steps from the heading first to the end of last.
func shared(t *testing.T, first, last string) []part {
	t.Helper()
	all := parse(t, steps)
	if first == "" {
		return all
	}
	heading := func(h string) int { return slices.IndexFunc(all, func(p part) bool { return p.under == h }) }
	from, to := heading(first), heading(cmp.Or(last, first))
	if from < 0 || to < from {
		t.Fatalf("%s has no blocks from %q to %q", steps, first, last)
	}
	end := to
	for end < len(all) && all[end].under == all[to].under {
		end++
	}
	return all[from:end]
}

// fence is what a fence's info string says of a block.
type fence string

const (
	runs    fence = "sh"         // runs here
	notRun  fence = "sh not-run" // doesn't; its first line says why
	prints  fence = "text"       // is in what the block before it prints
	onNode  fence = "bat node"   // runs on a Windows node, Wine's here
	console fence = "console"    // runs in test/docs
)

// notRunHere begins the first line of a block that doesn't run.
const notRunHere = "# not run: "

// part is a block of a page, or a comment that asks for a cluster.
type part struct {
	at    string // file:line
	under string // the heading of its section
	fence fence
	text  string
	kind  *kind // in place of a block
}

var clusterComment = regexp.MustCompile(`^<!-- cluster: (\S+) (\S+)(?: (in-tree-\S+))? -->$`)

func parse(t *testing.T, file string) []part {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []part
	inside, n, indent, under := false, 0, "", ""
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\n")
		at := fmt.Sprintf("%s:%d", filepath.Base(file), n)
		info, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && inside:
			inside = false
		case isFence:
			inside, indent = true, line[:len(line)-len(strings.TrimLeft(line, " "))]
			all = append(all, part{at: at, under: under, fence: fence(info)})
		case inside:
			all[len(all)-1].text += strings.TrimPrefix(line, indent) + "\n"
		case strings.HasPrefix(line, "## "):
			under = line[len("## "):]
		case strings.HasPrefix(line, "<!-- steps"):
			m := stepsComment.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("%s: %s", at, line)
			}
			all = append(all, shared(t, m[1], m[2])...)
		case strings.HasPrefix(line, "<!-- cluster"):
			m := clusterComment.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("%s: %s", at, line)
			}
			all = append(all, part{at: at, kind: &kind{Release: m[1], Platform: m[2], InTree: m[3]}})
		}
	}
	return all
}

var quotes = regexp.MustCompile(`'[^']*'|#.*`)

// TestFences: every block of the pages runs, is what another one prints, or is
// marked and says why it doesn't run.
func TestFences(t *testing.T) {
	count := map[fence]int{}
	list := pages(t)
	if len(list) != 7 {
		t.Errorf("%d pages: %v", len(list), list)
	}
	for _, file := range list {
		before := fence("")
		for _, p := range parse(t, file) {
			if p.kind != nil {
				continue
			}
			count[p.fence]++
			switch p.fence {
			case runs, console, onNode:
			case notRun:
				if why, _, _ := strings.Cut(p.text, "\n"); len(strings.TrimPrefix(why, notRunHere)) < 10 || !strings.HasPrefix(why, notRunHere) {
					t.Errorf("%s: the first line must say why: %s...", p.at, notRunHere)
				}
				// What nobody runs is read with care at the least.
				if bare := quotes.ReplaceAllString(p.text, ""); strings.ContainsAny(bare, "\\'") {
					t.Errorf("%s: bash would take a backslash away:\n%s", p.at, p.text)
				}
			case prints:
				if before != runs && before != onNode {
					t.Errorf("%s: no block that runs stands before it", p.at)
				}
			default:
				t.Errorf("%s: nobody runs a block of %q", p.at, p.fence)
			}
			before = p.fence
		}
	}
	t.Logf("blocks by kind: %v", count)
	if count[runs] < 40 || count[notRun] == 0 || count[prints] < 20 || count[onNode] == 0 {
		t.Errorf("blocks by kind: %v", count)
	}
}
