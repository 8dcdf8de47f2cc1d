package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// Ways in which Windows scripts fetch something: by URL, or from PowerShell's
// gallery.
var (
	fetching = regexp.MustCompile(`(?i)\b(invoke-webrequest|invoke-restmethod|iwr|irm|start-bitstransfer|wget|curl(\.exe)?)\b|\.downloadfile\(|\.downloadstring\(`)
	gallery  = regexp.MustCompile(`(?i)\b(install-module|install-script|install-package)\b`)
	remote   = regexp.MustCompile(`(?i)https?://[^\s"'\x60)]+`)
	held     = regexp.MustCompile(`(?i)get-filehash|sha256|sha512|get-authenticodesignature|-requiredversion`)
)

// ours are services of the machine's own cloud, the machine itself, and Packer:
// what they say belongs to the build.
var ours = regexp.MustCompile(`(?i)^https?://(169\.254\.|metadata\.|localhost|127\.|\$\{?(env:)?packer_http|%packer_http|\{\{ *\.HTTPIP)`)

// downloads looks at each script by itself: one that fetches and compares no
// sum. The HCL's own strings are commands too.
func downloads(c *checker) {
	const id = "template.download"
	before := len(c.findings)
	answerFiles := c.answerFiles()
	for _, name := range c.sorted() {
		text := stripped(name, c.files[name])
		if slices.Contains(answerFiles, name) || held.Match(text) || !isScript(name) {
			continue
		}
		if m := gallery.FindIndex(text); m != nil {
			c.add(id, name, finding.Finding{Observed: string(text[m[0]:m[1]]) + ", the newest there is", Expected: "a version or a sum", Evidence: at(name, lineAt(text, m[0])),
				Remedy: "Install-Module -RequiredVersion, or bring the module along"})
			continue
		}
		if m := fetching.FindIndex(text); m != nil {
			if url := foreign(string(text)); url != "" {
				c.add(id, name, finding.Finding{Observed: url, Expected: "a sum that it's compared with", Evidence: at(name, lineAt(text, m[0]))})
			}
		}
	}
	if len(c.findings) == before {
		c.pass(id, "downloads", "none without a sum or a version")
	}
}

// foreign is the first URL that isn't ours.
func foreign(text string) string {
	for _, url := range remote.FindAllString(text, -1) {
		if !ours.MatchString(url) {
			return url
		}
	}
	return ""
}

// isScript reports whether Windows runs a file of this name.
func isScript(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{".ps1", ".psm1", ".cmd", ".bat", ".hcl", ".pkr.json"}, func(s string) bool { return strings.HasSuffix(name, s) })
}
