package lint

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/winscript"
	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/packer/lint/internal/notation"
)

// buildChecker runs the rules over one build.
type buildChecker struct {
	reporter
	Build
	spoken string      // the scripts' own words, before it is known what runs
	runs   []scriptRun // what runs, in the order in which it does
}

// scriptRun is a script with what it does.
type scriptRun struct {
	Script
	does  winscript.Script
	stage Stage
	env   map[string]string // what it sets, by name in lower case, and what it was given
}

// commandRun is a command of a script.
type commandRun struct {
	winscript.Command
	in *scriptRun
}

func (d commandRun) at() []string { return at(d.in.Name, d.Line) }

// parts are the scripts in user data, and in files of clouds' agents; a file of
// another kind is its own.
func parts(s Script) []Script {
	if s.Language != Text && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(s.Text)), "<powershell>") {
		return []Script{s}
	}
	var out []Script
	for _, p := range winscript.Parts(s.Text) {
		part := s
		part.Language, part.Text = Language(p.Language), p.Text
		if slices.Contains(s.names(), "agent-config.yml") { // EC2Launch reads it at each start
			part.Stage = InClone
		}
		out = append(out, part)
	}
	if len(out) == 0 {
		return []Script{s}
	}
	return out
}

// read goes through a script in its language.
func read(s Script, env map[string]string) winscript.Script {
	switch s.Language {
	case PowerShell:
		return winscript.Run(s.Text, env)
	case Cmd:
		return winscript.RunCmd(s.Text, env)
	case Text:
	}
	return winscript.Script{}
}

// follow finds what runs: what the build starts itself, and files that one of
// these names.
func (c *buildChecker) follow() {
	given := c.Scripts
	c.Scripts = nil
	for _, s := range given {
		for _, part := range parts(s) {
			part.bare = string(notation.Stripped(s.Name, []byte(part.Text)))
			c.Scripts = append(c.Scripts, part)
		}
	}
	c.spoken = spoken(c.Build)
	var files []scriptRun
	for _, s := range c.Scripts {
		env := map[string]string{}
		maps.Copy(env, s.Env)
		r := scriptRun{Script: s, does: read(s, env), env: env}
		if s.Stage == OnCall {
			files = append(files, r)
			continue
		}
		r.stage = s.Stage
		c.runs = append(c.runs, r)
	}
	for _, f := range c.Answers {
		stage := AtSetup
		if c.generalizes(f) {
			stage = InClone
		}
		for _, command := range answer.Commands(f.Data) {
			s := Script{Name: f.Name, Language: Cmd, Text: command, Stage: stage, bare: command}
			c.runs = append(c.runs, scriptRun{Script: s, does: read(s, nil), stage: stage})
		}
	}
	for i := 0; i < len(c.runs); i++ { // the list grows
		c.callees(c.runs[i], files)
	}
	slices.SortStableFunc(c.runs, func(a, b scriptRun) int { return a.when() - b.when() })
}

// when is a script's place among the stages. Those that shut the machine down come
// behind all other steps.
func (r scriptRun) when() int {
	n := map[Stage]int{AtSetup: 0, AtBuild: 1, OnCall: 1, InClone: 3}[r.stage]
	if n == 1 && r.last {
		n++
	}
	return n
}

// atBoot is how a script of the build has something run in clones.
var atBoot = regexp.MustCompile(`(?i)setupcomplete\.cmd|-atstartup|\\runonce|/sc\s+onstart`)

// callees adds the files that a script names.
func (c *buildChecker) callees(caller scriptRun, files []scriptRun) {
	words := caller.words()
	stage := caller.stage
	if stage == AtBuild && atBoot.MatchString(words) {
		stage = InClone
	}
	for _, f := range files {
		if !slices.ContainsFunc(f.names(), func(name string) bool { return strings.Contains(words, name) }) {
			continue
		}
		f.stage, f.last = stage, caller.last
		if !slices.ContainsFunc(c.runs, func(r scriptRun) bool { return r.Name == f.Name && r.stage == stage }) {
			c.runs = append(c.runs, f)
		}
	}
}

// names are what a file is called by in other scripts.
func (s Script) names() []string {
	var out []string
	for _, p := range append([]string{s.Name}, s.Paths...) {
		base := path.Base(strings.ReplaceAll(strings.ToLower(p), `\`, "/"))
		if len(base) > 2 {
			out = append(out, base)
		}
	}
	return out
}

// words are all texts of what a script does, in lower case: arguments, and what
// is assigned.
func (r scriptRun) words() string {
	var b strings.Builder
	for _, d := range r.does.Commands {
		b.WriteString(d.Name + "\n" + strings.ToLower(strings.Join(slices.Concat(d.Words(), d.Input.Texts), "\n")) + "\n" + d.Object + "\n")
	}
	for _, name := range sortedKeys(r.does.Assigned) {
		b.WriteString(strings.ToLower(strings.Join(r.does.Assigned[name].Texts, "\n")) + "\n")
	}
	if r.Language == Text {
		b.WriteString(strings.ToLower(r.bare) + "\n")
	}
	for _, name := range sortedKeys(r.Env) {
		b.WriteString(strings.ToLower(r.Env[name]) + "\n")
	}
	return b.String()
}

// all is everything that runs or is put into the image.
func (c *buildChecker) all() []scriptRun {
	out := slices.Clone(c.runs)
	for _, s := range c.Scripts {
		if s.Language == Text && s.Stage == OnCall {
			out = append(out, scriptRun{Script: s})
		}
	}
	return out
}

func (c *buildChecker) words() string {
	var b strings.Builder
	for _, r := range c.all() {
		b.WriteString(r.words())
	}
	return b.String()
}

// commands are those of these names that run.
func (c *buildChecker) commands(names ...string) []commandRun {
	var out []commandRun
	for i := range c.runs {
		for _, command := range c.runs[i].does.Commands {
			if (len(names) == 0 || slices.Contains(names, command.Name)) && !slices.ContainsFunc(command.Args, justTried) {
				out = append(out, commandRun{command, &c.runs[i]})
			}
		}
	}
	return out
}

// justTried is a switch with which a cmdlet does nothing.
func justTried(a winscript.Arg) bool {
	return (a.Flag == "whatif" || a.Flag == "wi") && !a.Value.Has("$false")
}

// on reports whether one of these builders makes the image.
func (c *buildChecker) on(builders ...string) bool {
	return slices.ContainsFunc(c.Builders, func(b string) bool { return slices.Contains(builders, b) })
}

// generalizes reports whether sysprep is given the file: because a command says
// so, or by its content. Windows Setup looks for autounattend.xml by its name:
// that one is for the installation, whatever passes it has.
func (c *buildChecker) generalizes(f File) bool {
	base := strings.ToLower(f.Name[strings.LastIndexByte(f.Name, '/')+1:])
	if regexp.MustCompile(`/unattend:\S*` + regexp.QuoteMeta(base)).MatchString(c.spoken) {
		return true
	}
	return !strings.HasPrefix(base, "autounattend") && strings.Contains(string(f.Data), `pass="generalize"`)
}

// spoken are the words of a build's scripts and answer files.
func spoken(of Build) string {
	var b strings.Builder
	for _, s := range of.Scripts {
		b.WriteString(strings.ToLower(s.bare) + "\n")
		for _, name := range sortedKeys(s.Env) {
			b.WriteString(strings.ToLower(s.Env[name]) + "\n")
		}
	}
	for _, f := range of.Answers {
		b.WriteString(strings.ToLower(strings.Join(answer.Commands(f.Data), "\n")) + "\n")
	}
	return b.String()
}
