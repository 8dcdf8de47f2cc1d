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

// page is what a reader with one storage goes through, in their order.
type page struct {
	name  string
	parts []part
}

// row is one of the table of storages: its name, and the values of the variables.
var row = regexp.MustCompile(`(?m)^\| \[[^]]+\]\(#\S+\) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|$`)

// pages are those whose commands this package runs: docs/walkthrough.md once for each
// storage of its table, and docs/csi-drivers.md.
func pages(t *testing.T) []page {
	t.Helper()
	text, err := os.ReadFile(docs + "walkthrough.md")
	if err != nil {
		t.Fatal(err)
	}
	all := parse(t, docs+"walkthrough.md")
	var list []page
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		values := part{at: "the row of " + m[1], fence: runs, text: fmt.Sprintf("driver=%s daemonset=%s provisioner=%s\nfrom=%s to=%s patch=%s\n", m[1], m[2], m[3], m[4], m[5], m[6])}
		if list == nil && (all[0].under != "" || all[0].text != values.text) {
			t.Errorf("%s: the values of the first storage are\n%s", all[0].at, values.text)
		}
		p := page{name: m[1]}
		for _, own := range all {
			switch {
			case !slices.Contains(own.storages, p.name):
			case own.kind != nil:
				k := *own.kind
				k.InTree = strings.ReplaceAll(k.InTree, "$driver", p.name)
				p.parts = append(p.parts, part{at: own.at, kind: &k}, values)
			case own.steps != nil:
				p.parts = append(p.parts, shared(t, all, own.steps[0], own.steps[1])...)
			default:
				p.parts = append(p.parts, own)
			}
		}
		list = append(list, p)
	}
	return append(list, page{name: "csi-drivers", parts: parse(t, docs+"csi-drivers.md")})
}

// stepsComment takes in the steps that all storages share: <!-- steps -->, or
// <!-- steps: Heading .. Last heading -->.
var stepsComment = regexp.MustCompile(`^<!-- steps(?:: (.+?)(?: \.\. (.+))?)? -->$`)

// shared are the parts that are for no storage alone, from the heading first to the end of
// last.
func shared(t *testing.T, all []part, first, last string) []part {
	t.Helper()
	all = slices.DeleteFunc(slices.Clone(all), func(p part) bool { return p.storages != nil || p.under == "" })
	if first == "" {
		return all
	}
	heading := func(h string) int { return slices.IndexFunc(all, func(p part) bool { return p.under == h }) }
	from, to := heading(first), heading(cmp.Or(last, first))
	if from < 0 || to < from {
		t.Fatalf("walkthrough.md has no blocks from %q to %q", first, last)
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

// part is a block of a page, or a comment.
type part struct {
	at       string   // file:line
	under    string   // the heading of its section
	storages []string // that its section is for
	fence    fence
	text     string
	kind     *kind      // a cluster that a comment asks for, instead of a block
	steps    *[2]string // headings of the steps that a comment takes in
}

// clusterComment asks for a cluster, and says which storages its section is for.
var clusterComment = regexp.MustCompile(`^<!-- (?:for: ([^;]+); )?cluster: (\S+) (\S+)(?: (in-tree-\S+))? -->$`)

func parse(t *testing.T, file string) []part {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []part
	inside, n, indent, under := false, 0, "", ""
	var storages []string
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
			all = append(all, part{at: at, under: under, storages: storages, fence: fence(info)})
		case inside:
			all[len(all)-1].text += strings.TrimPrefix(line, indent) + "\n"
		case strings.HasPrefix(line, "## "):
			under, storages = line[len("## "):], nil
		case strings.HasPrefix(line, "<!-- steps"):
			m := stepsComment.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("%s: %s", at, line)
			}
			all = append(all, part{at: at, under: under, storages: storages, steps: &[2]string{m[1], m[2]}})
		case strings.HasPrefix(line, "<!-- "):
			m := clusterComment.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("%s: %s", at, line)
			}
			if m[1] != "" {
				storages = strings.Fields(m[1])
			}
			all = append(all, part{at: at, storages: storages, kind: &kind{Release: m[2], Platform: m[3], InTree: m[4]}})
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
	for _, page := range list {
		before := fence("")
		for _, p := range page.parts {
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
