package skewreport

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// everywhere is a report that says s wherever a report can say something.
func everywhere(s string) Report {
	f := finding.Finding{ID: s, Severity: finding.Block, Object: s, Observed: s, Expected: s, Why: s, Remedy: s, When: s, Source: s,
		Phase: s, Hop: s, Evidence: []string{s, s}}
	g := f
	g.Severity, g.Accepted = finding.Info, "WARN"
	return Report{
		Tool: s, Version: s, CatalogAsOf: s, Today: s, Command: s,
		Inventory: &inventory.Inventory{
			Sources: []inventory.Source{{Kind: s, Name: s, Detail: s}}, Problems: []inventory.Problem{{Where: s, What: s, Fix: s}},
			Read: map[inventory.Resource]inventory.Coverage{inventory.Resource(s): {Reason: s}},
		},
		Result: &skew.Result{
			From: s, To: s, Hops: []skew.Hop{{From: s, To: s}}, Evaluated: []string{s}, NotEvaluated: []skew.NotEvaluated{{Rule: s, Reason: s}},
			Drivers:  []skew.Row{{Driver: s, Provisioner: s, Object: s, LinuxNow: s, LinuxTarget: s, Windows: s, Mode: s, ModeTarget: s, Certainty: s}},
			Findings: []finding.Finding{f, g}, Steps: []skew.Step{{Hop: -1, When: s, What: s, Actions: run(s), Why: s, Rules: []string{s}}},
		},
		Explain: func(string) (skew.Rule, bool) { return skew.Rule{Title: s, Ground: s, Source: s}, true },
	}
}

var (
	htmlTag = regexp.MustCompile(`<(/?[a-zA-Z][a-zA-Z0-9]*)`)
	// ours are the elements that the page is made of.
	ours = regexp.MustCompile(`^/?(html|head|meta|title|style|body|header|footer|main|section|h[1-4]|p|ul|ol|li|dl|dt|dd|div|table|caption|thead|tbody|tr|th|td|details|summary|span|strong|code|pre|a|br|input)$`)
	href = regexp.MustCompile(`href="([^"]*)"`)
)

// checkFormats holds what must be true of each format, whatever it is given.
func checkFormats(t *testing.T, r Report) {
	t.Helper()
	for _, format := range Formats {
		out := output(t, format, r, Options{Width: 60, Verbose: true})
		if !utf8.ValidString(out) {
			t.Errorf("%s isn't UTF-8", format)
		}
		if i := strings.IndexFunc(out, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }); i >= 0 {
			t.Errorf("%s: raw: %q", format, out[i:min(len(out), i+20)])
		}
		switch format {
		case "json", "sarif":
			if !json.Valid([]byte(out)) {
				t.Errorf("%s isn't JSON", format)
			}
		case "junit":
			checkXML(t, out)
		case "html":
			checkElements(t, out)
		case "markdown":
			checkMarkdown(t, out)
		}
	}
	checkMarkdown(t, planOf(t, r))
	checkElements(t, planHTMLOf(t, r))
}

func checkXML(t *testing.T, out string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(out)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Errorf("junit: %v", err)
			return
		}
	}
}

func checkElements(t *testing.T, out string) {
	t.Helper()
	for _, m := range htmlTag.FindAllStringSubmatch(out, -1) {
		if !ours.MatchString(m[1]) {
			t.Errorf("html: element %s", m[1])
		}
	}
	for _, m := range href.FindAllStringSubmatch(out, -1) {
		if !strings.HasPrefix(m[1], "https://") {
			t.Errorf("html: a link to %s", m[1])
		}
	}
}

var (
	fenceLine  = regexp.MustCompile("^ *(`{3,})(sh)?$")
	escaped    = regexp.MustCompile(`\\[!-/:-@\[-` + "`" + `{-~]|&#96;`)
	meaningful = regexp.MustCompile(`[<*_\[\]~|$]|://`)
)

// checkMarkdown reads Markdown as far as to see that nothing but what this
// package writes has a meaning: outside code, special characters are escaped.
func checkMarkdown(t *testing.T, out string) {
	t.Helper()
	fence := ""
	for line := range strings.SplitSeq(out, "\n") {
		if m := fenceLine.FindStringSubmatch(line); m != nil && (fence == "" || m[1] == fence) {
			if fence == "" {
				fence = m[1]
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" || strings.HasPrefix(line, "|") && strings.Trim(line, "|-") == "" {
			continue
		}
		line = withoutCode(line)
		line = escaped.ReplaceAllString(line, "")
		for _, own := range []string{"- [ ] ", "**"} {
			line = strings.ReplaceAll(line, own, "")
		}
		if strings.HasPrefix(line, "|") {
			line = strings.Trim(line, "|")
			line = strings.ReplaceAll(line, " | ", "")
		}
		if rest, ok := strings.CutPrefix(line, "- source: <https://"); ok {
			line = strings.TrimSuffix(rest, ">")
		}
		if meaningful.MatchString(line) {
			t.Errorf("markdown: %q has a meaning", line)
		}
	}
	if fence != "" {
		t.Error("markdown: a code block that doesn't end")
	}
}

// withoutCode takes code spans out as CommonMark finds them.
func withoutCode(line string) string {
	var b strings.Builder
	for line != "" {
		i := strings.IndexByte(line, '`')
		if i < 0 {
			break
		}
		b.WriteString(line[:i])
		line = line[i:]
		mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		line = line[len(mark):]
		end := closing(line, mark)
		if end < 0 {
			b.WriteString(mark)
			continue
		}
		line = line[end+len(mark):]
	}
	return b.String() + line
}

// closing finds the run of backticks that is as long as mark.
func closing(line, mark string) int {
	for _, at := range backticks.FindAllStringIndex(line, -1) {
		if at[1]-at[0] == len(mark) {
			return at[0]
		}
	}
	return -1
}

func TestHostileStrings(t *testing.T) {
	for _, s := range []string{
		hostile, "", " ", "\n", "\\", "`", "``", "a ` b", "```\n# out\n", "~~~", "|", "\\|", "]]>", "<!--", "</style><script>", "</title><img src=x onerror=alert(1)>",
		"javascript:alert(1)", "https://example.com/\"onmouseover=\"x", "https://example.com/a>b<c", "- [x] done", "1. x", "# x", "&lt;", "{{.}}", "${x}", "\u202e", "\xff",
		"oc apply -f `x`\n```", strings.Repeat("x", 5000), strings.Repeat("`", 50), "$x^2$", "@all", "www.example.com", "http://example.com",
	} {
		checkFormats(t, everywhere(s))
	}
	checkFormats(t, unknown())
}

func FuzzFormats(f *testing.F) {
	f.Add(hostile)
	f.Add("```\nx\n````")
	f.Add("https://example.com/`x`")
	f.Add("oc x \\")
	f.Fuzz(func(t *testing.T, s string) { checkFormats(t, everywhere(s)) })
}
