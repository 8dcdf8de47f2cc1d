package lint

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/packer/lint/internal/notation"
)

// readable are provisioners whose content is in the template's own files.
var readable = []string{"powershell", "windows-shell", "windows-restart", "windows-update", "file", "breakpoint", "winbake-node", "shell-local"}

// opaque names a step whose content can't be read here; "" for none.
func (c *checker) opaque() string {
	if len(c.answerFiles()) == 0 && c.builder(fromMedium...) {
		return "the answer file"
	}
	for _, p := range c.provisioners() {
		if !slices.Contains(readable, p.Labels[0]) {
			return "provisioner " + p.Labels[0]
		}
		for _, name := range []string{"script", "scripts"} {
			a := p.Body.Attributes[name]
			if a == nil {
				continue
			}
			v := c.value(a.Expr)
			if !v.IsWhollyKnown() {
				return "a script that is given at build time"
			}
			for _, path := range texts(v) {
				if _, err := readAt(c.dir, path); err != nil && !errors.Is(err, fs.ErrNotExist) { // one that isn't there is told
					return "the script " + strings.TrimPrefix(path, c.dir+string(filepath.Separator))
				}
			}
		}
	}
	return ""
}

// build is what the folder has done, as far as it can be read.
func (c *checker) build() Build {
	b := Build{Profile: c.profile, Unread: c.opaque()}
	for _, s := range c.sources {
		b.Builders = append(b.Builders, s.Labels[0])
	}
	seen := map[string]bool{}
	for _, s := range c.scripts {
		if notation.IsAnswer(s.Name, []byte(s.Text)) {
			if !seen[s.Name] {
				b.Answers = append(b.Answers, File{s.Name, []byte(s.Text)})
			}
			seen[s.Name] = true
			continue
		}
		b.Scripts = append(b.Scripts, s)
	}
	return b
}

// present: what Packer reads is there.
func present(c *checker) {
	seen := map[string]bool{}
	for _, m := range c.missing {
		path := strings.TrimPrefix(m.text, c.dir+string(filepath.Separator))
		if seen[path] {
			continue
		}
		seen[path] = true
		c.add("template.script", path, finding.Finding{Observed: "no such file, and " + m.name + " reads it", Expected: "a file", Why: "packer build ends there", Remedy: "put it there, or remove what names it"})
	}
}

// exitCodes: a provisioner that takes PowerShell's own code of failure for
// success.
func exitCodes(c *checker) {
	for _, p := range c.provisioners() {
		a := p.Body.Attributes["valid_exit_codes"]
		if a == nil {
			continue
		}
		v := c.value(a.Expr)
		if v.IsNull() || !v.IsKnown() || !v.CanIterateElements() {
			continue
		}
		for _, code := range v.AsValueSlice() {
			if code.IsKnown() && code.Type() == cty.Number && code.RawEquals(cty.NumberIntVal(1)) {
				c.add("template.updates", p.at()[0], finding.Finding{Observed: "valid_exit_codes has 1", Expected: "codes that mean success: 0, 3010 and 1641", Why: "PowerShell ends with 1 when a script fails, and Packer goes on",
					Remedy: "valid_exit_codes = [0, 3010, 1641]", Evidence: p.at("valid_exit_codes")})
			}
		}
	}
}
