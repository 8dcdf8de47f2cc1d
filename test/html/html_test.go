// Package html opens the HTML report of `verify skew` in a real browser. It
// has no code of its own.
package html

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var shots = flag.String("shots", "", "folder to keep pictures and prints in, for looking at")

// pages are the golden files of the package that writes them, which its own
// test keeps current. The verdict is what each must show.
var pages = map[string]string{
	"safe": "PASS", "mixed": "BLOCK", "unknown": "UNKNOWN", "finished": "WARN",
}

//go:embed contrast.js
var contrastScript string

func path(t *testing.T, page string) string {
	t.Helper()
	p, err := filepath.Abs("../../internal/report/skewreport/testdata/" + page + ".html")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPageInBrowser(t *testing.T) {
	b := newBrowser(t)
	for page, verdict := range pages {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{1280, 375} {
				name := fmt.Sprintf("%s-%s-%d", page, scheme, width)
				p := b.open(path(t, page), scheme, width)
				checkQuiet(t, name, p)
				checkVerdict(t, name, p, verdict)
				checkFits(t, name, p)
				checkContrast(t, name, p)
				checkDrawn(t, name, p, scheme)
			}
		}
		p := b.open(path(t, page), "dark", 1280)
		checkStructure(t, page, p)
		checkPrint(t, page, p)
	}
}

// checkQuiet: the page asks for nothing but itself, and the console has
// nothing to say; a violated Content-Security-Policy would be told there.
func checkQuiet(t *testing.T, name string, p *tab) {
	t.Helper()
	if n := len(p.seen(p.session, "Network.requestWillBeSent")); n != 1 {
		t.Errorf("%s: %d requests, want the page alone: %s", name, n, p.seen(p.session, "Network.requestWillBeSent"))
	}
	for _, event := range []string{"Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Page.javascriptDialogOpening"} {
		for _, m := range p.seen(p.session, event) {
			t.Errorf("%s: %s: %s", name, event, m)
		}
	}
}

func checkVerdict(t *testing.T, name string, p *tab, verdict string) {
	t.Helper()
	var got struct {
		Title, Heading, Badge string
		Scripts, Inline       int
	}
	p.eval(`({Title: document.title, Heading: document.querySelector("h2").innerText, Badge: document.querySelector("h2 .badge").innerText,
		Scripts: document.querySelectorAll("script, iframe, object, embed, link, img, form, base").length,
		Inline: document.querySelectorAll("[style], [onclick], [onload]").length})`, &got)
	if !strings.HasPrefix(got.Title, verdict+": ") || got.Badge != verdict || got.Heading != "Verdict: "+verdict {
		t.Errorf("%s: the verdict should be %s: %+v", name, verdict, got)
	}
	if got.Scripts+got.Inline > 0 {
		t.Errorf("%s: strings became elements: %+v", name, got)
	}
}

// checkFits: only tables and commands scroll sideways, and in boxes of their
// own, which a keyboard reaches.
func checkFits(t *testing.T, name string, p *tab) {
	t.Helper()
	var got struct{ Page, Window int }
	p.eval(`({Page: document.documentElement.scrollWidth, Window: document.documentElement.clientWidth})`, &got)
	if got.Page > got.Window {
		t.Errorf("%s: the page is %d px wide in a window of %d", name, got.Page, got.Window)
	}
	var boxes []string
	p.eval(`[...document.querySelectorAll("*")].filter(e => e.scrollWidth > e.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.tabIndex < 0).map(e => e.outerHTML.slice(0, 80))`, &boxes)
	for _, b := range boxes {
		t.Errorf("%s: scrolls out of reach of a keyboard: %s", name, b)
	}
}

// checkContrast measures all text against what is behind it:
// https://www.w3.org/TR/WCAG22/#contrast-minimum
func checkContrast(t *testing.T, name string, p *tab) {
	t.Helper()
	var low []struct {
		Text, Color, Behind string
		Ratio               float64
	}
	p.eval(contrastScript, &low)
	for _, l := range low {
		t.Errorf("%s: contrast %.2f, want 4.5: %s on %s: %q", name, l.Ratio, l.Color, l.Behind, l.Text)
	}
}

// checkDrawn: what is shown is light or dark, and not empty.
func checkDrawn(t *testing.T, name string, p *tab, scheme string) {
	t.Helper()
	var shot struct{ Data []byte }
	p.do("Page.captureScreenshot", params{"format": "png", "captureBeyondViewport": true}, &shot)
	keep(t, name+".png", shot.Data)
	img, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	colors := map[[3]uint32]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			colors[[3]uint32{r >> 8, g >> 8, b >> 8}]++
		}
	}
	if len(colors) < 50 {
		t.Errorf("%s: only %d colours: nothing was drawn", name, len(colors))
	}
	r, g, b, _ := img.At(1, 1).RGBA()
	if dark := r+g+b < 3*0x4000; dark != (scheme == "dark") {
		t.Errorf("%s: the ground is %x %x %x", name, r, g, b)
	}
}

// checkPrint: what is folded away on screen is there on paper.
func checkPrint(t *testing.T, name string, p *tab) {
	t.Helper()
	p.media("print", "light")
	var hidden []string
	p.eval(`[...document.querySelectorAll("details dl")].filter(e => e.getBoundingClientRect().height < 10 || !e.checkVisibility({contentVisibilityAuto: true})).map(e => e.innerText)`, &hidden)
	for _, h := range hidden {
		t.Errorf("%s: isn't printed: %s", name, h)
	}
	var pdf struct{ Data []byte }
	p.do("Page.printToPDF", params{"printBackground": true}, &pdf)
	keep(t, name+".pdf", pdf.Data)
	if !bytes.HasPrefix(pdf.Data, []byte("%PDF-")) || len(pdf.Data) < 10_000 {
		t.Errorf("%s: printed to %d bytes", name, len(pdf.Data))
	}
}

func keep(t *testing.T, name string, data []byte) {
	t.Helper()
	if *shots == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*shots, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// node is one node of what a screen reader is told.
type node struct {
	Ignored          bool
	Role, Name       struct{ Value json.RawMessage }
	Description      struct{ Value string }
	BackendDOMNodeID int
	Properties       []struct {
		Name  string
		Value struct{ Value json.RawMessage }
	}
}

func (n node) role() string { return unquote(n.Role.Value) }
func (n node) name() string { return unquote(n.Name.Value) }

func unquote(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // what isn't a string is no role and no name
	return s
}

// checkStructure looks at the page as a screen reader does.
func checkStructure(t *testing.T, name string, p *tab) {
	t.Helper()
	var tree struct{ Nodes []node }
	p.do("Accessibility.getFullAXTree", nil, &tree)
	count := map[string]int{}
	level := 0
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		count[n.role()]++
		switch n.role() {
		case "heading":
			level = checkHeading(t, name, n, level)
		case "region", "table":
			if n.name() == "" {
				t.Errorf("%s: a %s without a name", name, n.role())
			}
		}
	}
	for _, role := range []string{"banner", "main", "contentinfo"} {
		if count[role] != 1 {
			t.Errorf("%s: %d of landmark %s", name, count[role], role)
		}
	}
	if count["table"] == 0 || count["columnheader"] < 6*count["table"] || count["rowheader"] < count["table"] {
		t.Errorf("%s: tables or their headers are missing: %v", name, count)
	}
}

// checkHeading: levels start at 1 and none is left out on the way down.
func checkHeading(t *testing.T, name string, n node, before int) int {
	t.Helper()
	level := 0
	for _, p := range n.Properties {
		if p.Name == "level" {
			_ = json.Unmarshal(p.Value.Value, &level) // 0 fails below
		}
	}
	if level < 1 || level > before+1 {
		t.Errorf("%s: heading %q is of level %d after %d", name, n.name(), level, before)
	}
	return level
}
