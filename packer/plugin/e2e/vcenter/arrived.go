package vcenter

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/winscript"
	"github.com/winbake/winbake/packer/lint"
	"github.com/winbake/winbake/packer/plugin/internal/record"
	"github.com/winbake/winbake/test/winenode"
)

// What Packer's powershell provisioner gives a script, in a file of its own:
// $env:NAME="value", with backticks before what PowerShell would read.
var (
	variableFile = regexp.MustCompile(`(?i)\\packer-ps-env-vars-[^\\]*\.ps1$`)
	packersOwn   = regexp.MustCompile(`(?i)\\packer-(ps-env-vars|elevated-shell|cleanup)-[^\\]*\.ps1$`)
	variable     = regexp.MustCompile("(?s)\\$env:(\\w+)=\"((?:`.|[^`\"])*)\"")
	password     = regexp.MustCompile(`(?i)(password>\s*<value>)[^<]*(</value>)`)
	escaped      = regexp.MustCompile("(?s)`(.)")
)

// build is what a build has brought to the guest, and on media to the machine, as
// verify template reads it.
func (g *Guest) build(builder string, media []winenode.File) lint.Build {
	b := lint.Build{Profile: g.profile(), Builders: []string{builder}}
	known := map[string]bool{}
	add := func(f winenode.File, stage lint.Stage, env map[string]string) {
		known[strings.ToLower(f.Path)] = true
		name := path.Base(strings.ReplaceAll(f.Path, `\`, "/"))
		switch language := lint.LanguageOf(name); {
		case strings.HasSuffix(strings.ToLower(name), ".xml"):
			// The password is filled in by now, which is a fault only in a template.
			b.Answers = append(b.Answers, lint.File{Name: f.Path, Data: password.ReplaceAll(f.Data, []byte("$1$${password}$2"))})
		case language != lint.Text:
			b.Scripts = append(b.Scripts, lint.Script{Name: f.Path, Paths: []string{f.Path}, Language: language, Text: winscript.Decode(f.Data), Stage: stage, Env: env})
		}
	}
	for _, f := range media {
		add(f, lint.OnCall, nil)
	}
	for i, s := range g.node.Steps() {
		b.Scripts = append(b.Scripts, lint.Script{Name: fmt.Sprintf("command %d", i+1), Language: lint.Cmd, Text: s.Command, Stage: lint.AtBuild})
		env := environment(s.Scripts)
		for _, f := range s.Scripts {
			if !packersOwn.MatchString(f.Path) {
				add(f, lint.AtBuild, env)
			}
		}
	}
	for _, f := range g.node.Uploads() {
		if !known[strings.ToLower(f.Path)] && !packersOwn.MatchString(f.Path) {
			add(f, lint.OnCall, nil)
		}
	}
	return b
}

// environment is what a step's scripts are given.
func environment(files []winenode.File) map[string]string {
	env := map[string]string{}
	for _, f := range files {
		if variableFile.MatchString(f.Path) {
			for _, m := range variable.FindAllStringSubmatch(string(f.Data), -1) {
				env[m[1]] = escaped.ReplaceAllString(m[2], "$1")
			}
		}
	}
	return env
}

// profile is what the build was for, as its own step has written it down.
func (g *Guest) profile() string {
	if g.Profile != "" {
		return g.Profile
	}
	at, err := g.node.Path(record.GuestPath)
	if err != nil {
		return ""
	}
	var m struct{ Content struct{ Profile string } }
	if data, err := os.ReadFile(at); err == nil {
		_ = json.Unmarshal(data, &m)
	}
	return m.Content.Profile
}

// broken are the findings that no image is made with: what blocks, and steps that
// are missing or do nothing. rules limits them, unless it is empty.
func broken(findings []lint.Finding, rules ...string) []string {
	var said []string
	for _, f := range findings {
		if len(rules) > 0 && !slices.Contains(rules, f.ID) {
			continue
		}
		if f.Severity == lint.Block || f.Severity == lint.Warn && slices.Contains(steps, f.ID) {
			said = append(said, fmt.Sprintf("%s %s %s: %s; %s (%s)", f.Severity, f.ID, f.Object, f.Observed, f.Why, strings.Join(f.Evidence, ", ")))
		}
	}
	return said
}

var steps = []string{"template.checklist", "template.script", "template.sysprep"}
