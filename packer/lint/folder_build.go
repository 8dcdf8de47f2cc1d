package lint

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/builder"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/notation"
)

// readable are provisioners whose content is in the template's own files.
var readable = []string{"powershell", "windows-shell", "windows-restart", "windows-update", "file", "breakpoint", "winbake-node", "shell-local"}

// opaque names a step of a source whose content can't be read here; "" for none.
func (c *checker) opaque(source *block) string {
	if len(c.answers(source)) == 0 && len(source.Labels) > 0 && slices.Contains(fromMedium, source.Labels[0]) {
		return "the answer file"
	}
	for _, p := range c.Provisioners(source) {
		if !slices.Contains(readable, p.Labels[0]) {
			return "provisioner " + p.Labels[0]
		}
		for _, name := range []string{"script", "scripts"} {
			a := p.Body.Attributes[name]
			if a == nil {
				continue
			}
			v := c.Value(a.Expr)
			if !v.IsWhollyKnown() {
				return "a script that is given at build time"
			}
			for _, path := range expression.Texts(v) {
				if _, err := expression.ReadAt(c.Dir, path); err != nil && !errors.Is(err, fs.ErrNotExist) { // one that isn't there is told
					return "the script " + strings.TrimPrefix(path, c.Dir+string(filepath.Separator))
				}
			}
		}
	}
	return ""
}

// answers are the answer files that a source's machine is brought.
func (f *folder) answers(source *block) []File {
	var out []File
	for _, s := range f.brought[source].scripts {
		if notation.IsAnswer(s.Name, []byte(s.Text)) && !slices.ContainsFunc(out, func(f File) bool { return f.Name == s.Name }) {
			out = append(out, File{s.Name, []byte(s.Text), s.Paths, s.values})
		}
	}
	return out
}

// build is what a source's builds have done, as far as it can be read.
func (c *checker) build(source *block) Build {
	b := Build{Profile: c.profile, Unread: c.opaque(source), Answers: c.answers(source)}
	b.way = c.wayInto(source)
	b.media, b.whole = c.Media(source.Body)
	b.given = func(text string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(c.Given)), func(v cty.Value) bool {
			return slices.ContainsFunc(expression.Texts(v), func(t string) bool { return strings.EqualFold(t, text) })
		})
	}
	if len(source.Labels) > 0 {
		b.Builders = source.Labels[:1]
		if slices.Contains(builder.Names(builder.Image), source.Labels[0]) {
			b.base = "the machine that is cloned"
		}
	}
	b.Scripts = slices.DeleteFunc(slices.Clone(c.brought[source].scripts), func(s Script) bool { return notation.IsAnswer(s.Name, []byte(s.Text)) })
	return b
}

// present: what Packer reads is there.
func present(c *checker) {
	seen := map[string]bool{}
	for _, m := range c.missing {
		path := strings.TrimPrefix(m.text, c.Dir+string(filepath.Separator))
		if seen[path] {
			continue
		}
		seen[path] = true
		found := finding.Finding{Severity: m.severity, Observed: "no such file, and " + m.name + " reads it", Expected: "a file", Why: "packer build ends there", Remedy: "put it there, or remove what names it"}
		if info, err := os.Stat(filepath.Join(c.Dir, path)); err == nil && info.IsDir() {
			found.Observed = "a folder, and " + m.name + " reads it"
		}
		switch m.severity {
		case finding.Warn:
			found.Observed, found.Why = "nothing matches it, and "+m.name+" has it", "Packer passes over it, and the machine has none of these files"
		case finding.Info:
			found.Observed, found.Why = "not here, and "+m.name+" needs it", "the machine lacks it, unless something puts it there before the build"
		case finding.Pass, finding.Unknown, finding.Block:
		}
		c.add("template.script", path, found)
	}
}

// exitCodes: a provisioner that takes PowerShell's own code of failure for
// success.
func exitCodes(c *checker) {
	for _, p := range c.Provisioners(nil) {
		if word, name := c.Stray(p); name != "" {
			c.add("template.script", p.At()[0], finding.Finding{Severity: finding.Warn, Observed: word + " names " + quoted(name) + ", and there is no such source", Expected: "a source's type and name",
				Why: "Packer passes over the name: the step runs nowhere, or where it shouldn't", Remedy: word + ` = ["` + c.Sources[0].Name() + `"]`, Evidence: p.At(word)})
		}
		if goesOn, _ := c.Text(p.Body, "continue_on_error"); goesOn == "true" {
			c.add("template.updates", p.At()[0], finding.Finding{Observed: "continue_on_error = true", Expected: "a build that ends where a step fails", Why: "the image lacks what the step does, and nobody is told",
				Remedy: "continue_on_error = false", Evidence: p.At("continue_on_error")})
		}
		a := p.Body.Attributes["valid_exit_codes"]
		if a == nil || p.Labels[0] == "shell" { // of Linux
			continue
		}
		v := c.Value(a.Expr)
		if v.IsNull() || !v.IsKnown() || !v.CanIterateElements() {
			continue
		}
		for _, code := range v.AsValueSlice() {
			if code.IsKnown() && code.Type() == cty.Number && code.RawEquals(cty.NumberIntVal(1)) {
				c.add("template.updates", p.At()[0], finding.Finding{Observed: "valid_exit_codes has 1", Expected: "codes that mean success: 0, 3010 and 1641", Why: "PowerShell ends with 1 when a script fails, and Packer goes on",
					Remedy: "valid_exit_codes = [0, 3010, 1641]", Evidence: p.At("valid_exit_codes")})
			}
		}
	}
}
