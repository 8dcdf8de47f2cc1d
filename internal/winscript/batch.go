package winscript

import (
	"regexp"
	"strings"
)

// RunCmd tells what a cmd script does in this environment.
func RunCmd(text string, env map[string]string) Script {
	r := newRunner(env)
	r.batch(text, 0)
	return Script{Commands: r.commands}
}

var (
	// condition is what is before an if's command.
	condition = regexp.MustCompile(`(?i)^(/i\s+)?(not\s+)?(exist\s+("[^"]*"|\S+)|defined\s+\S+|errorlevel\s+\S+|("[^"]*"|\S+)\s*(==|\s(equ|neq|lss|leq|gtr|geq)\s)\s*("[^"]*"|\S+))\s*`)
	forLoop   = regexp.MustCompile(`(?i)^((?:/\S\s+)*(?:"[^"]*"\s+|\S+\s+)?)(%%?\w)\s+in\s*\(([^)]*)\)\s*do\b\s*`)
	// written is > FILE in front of the command that writes there.
	written  = regexp.MustCompile(`^(\d?>>?\s*(?:"[^"]*"|[^\s"]+))\s*(.*)$`)
	filledIn = regexp.MustCompile(`%([\w()]+)%`)
	// ofCmd is cmd /c, which takes off the first quote and the last one.
	ofCmd    = regexp.MustCompile(`(?i)^"?(?:[^"\s]*\\)?cmd(?:\.exe)?"?\s+(?:/[a-bd-jl-z]\S*\s+)*(/[ck])\s*(?:"(.*)"|(.*))\s*$`)
	assigned = regexp.MustCompile(`(?i)^set\s+(?:/\w\s+)?"?([\w]+)=(.*?)"?\s*$`)
)

// batch goes through lines of cmd, line being where they are if they are in
// another script.
func (r *runner) batch(text string, line int) {
	if len(r.commands) > maxCommands {
		return
	}
	vars := map[string]string{}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		whole, at := lines[i], line
		if at == 0 {
			at = i + 1
		}
		for strings.HasSuffix(whole, "^") && i+1 < len(lines) {
			i++
			whole = strings.TrimSuffix(whole, "^") + lines[i]
		}
		for _, c := range separated(whole) {
			r.batchCommand(c, vars, at)
		}
		if first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(whole)), " "); first == "exit" && line == 0 && !strings.Contains(text, "\n:") {
			return
		}
	}
}

// separated are the commands of a line.
func separated(line string) []string {
	var out []string
	var b strings.Builder
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
			b.WriteByte(c)
		case c == '^' && !quoted && i+1 < len(line):
			i++
			b.WriteByte(line[i])
		case !quoted && (c == '&' && (i == 0 || line[i-1] != '>') || c == '|'):
			out = append(out, b.String())
			b.Reset()
		default:
			b.WriteByte(c)
		}
	}
	return append(out, b.String())
}

// batchCommand records one command. Conditions are taken as if they held, and a
// loop's command is there once for each of its words.
func (r *runner) batchCommand(text string, vars map[string]string, line int) {
	text = strings.TrimLeft(text, " \t@(")
	if r.steps++; r.steps > maxSteps {
		return
	}
	for _, name := range sorted(vars) {
		if strings.HasPrefix(name, "%") && strings.Contains(text, name) {
			for _, word := range strings.FieldsFunc(vars[name], func(c rune) bool { return strings.ContainsRune(" \t,;\"", c) }) {
				r.batchCommand(regexp.MustCompile(name+`\b`).ReplaceAllLiteralString(text, word), vars, line)
			}
			return
		}
	}
	if m := written.FindStringSubmatch(text); m != nil {
		text = m[2] + " " + m[1]
	}
	lower := strings.ToLower(text)
	for _, prefix := range []string{") else ", ")", "else ", "do "} {
		if strings.HasPrefix(lower, prefix) {
			r.batchCommand(text[len(prefix):], vars, line)
			return
		}
	}
	switch {
	case text == "" || strings.HasPrefix(text, ":") || lower == "rem" || strings.HasPrefix(lower, "rem ") || strings.HasPrefix(lower, "rem\t"):
		return
	case strings.HasPrefix(lower, "if ") && condition.MatchString(strings.TrimSpace(text[3:])):
		rest := strings.TrimSpace(text[3:])
		r.batchCommand(rest[len(condition.FindString(rest)):], vars, line)
		return
	case strings.HasPrefix(lower, "for ") && forLoop.MatchString(strings.TrimSpace(text[4:])):
		rest := strings.TrimSpace(text[4:])
		m := forLoop.FindStringSubmatch(rest)
		if m[1] == "" { // not of files, numbers or what a command says
			vars[m[2]] = m[3]
		}
		r.batchCommand(rest[len(m[0]):], vars, line)
		return
	}
	if m := assigned.FindStringSubmatch(text); m != nil {
		vars[strings.ToLower(m[1])] = r.fill(m[2], vars)
	}
	words := words(r.fill(text, vars))
	if len(words) == 0 {
		return
	}
	c := Command{Name: programName(words[0]), Line: line, Order: len(r.commands)}
	for _, w := range words[1:] {
		v := known(w)
		v.Open = strings.Contains(w, "%")
		c.Args = append(c.Args, Arg{Value: v})
	}
	r.commands = append(r.commands, c)
	if m := ofCmd.FindStringSubmatch(text); m != nil && r.calls < maxCalls {
		r.calls++
		r.batch(m[2]+m[3], line)
		r.calls--
		return
	}
	r.started(c)
}

func (r *runner) fill(text string, vars map[string]string) string {
	return filledIn.ReplaceAllStringFunc(text, func(m string) string {
		name := strings.ToLower(strings.Trim(m, "%"))
		if v, ok := vars[name]; ok {
			return v
		}
		if v, ok := r.environment(name); ok {
			return v
		}
		return m
	})
}

// words are a command line's, quotes taken off. A quote inside a word belongs to
// it, and \" is a quote for the program.
func words(text string) []string {
	var out []string
	var b strings.Builder
	quoted, found := false, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == '"' && quoted:
			b.WriteByte('"')
			i++
		case c == '"':
			quoted, found = !quoted, true
		case (c == ' ' || c == '\t') && !quoted:
			if found || b.Len() > 0 {
				out = append(out, b.String())
			}
			b.Reset()
			found = false
		default:
			b.WriteByte(c)
		}
	}
	if found || b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}
