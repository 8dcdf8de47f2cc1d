package kube

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// word is one argument of a container, with the field that it stands in.
type word struct {
	text string
	path []any
}

// argv is a container's command line, command and args alike, with what its
// environment puts into it.
func argv(ct *corev1.Container, base []any) []word {
	env := environment(ct)
	var words []word
	add := func(field string, args []string) {
		for i, arg := range args {
			path := below(base, field, i)
			arg = expand(arg, env)
			if !isLine(arg) {
				words = append(words, word{arg, path})
				continue
			}
			for _, w := range splitLine(arg) {
				words = append(words, word{expandShell(w, env), path})
			}
		}
	}
	add("command", ct.Command)
	add("args", ct.Args)
	return words
}

// environment is what a container's environment says in plain text.
func environment(ct *corev1.Container) map[string]string {
	env := make(map[string]string, len(ct.Env))
	for _, e := range ct.Env {
		if e.ValueFrom == nil {
			env[e.Name] = expand(e.Value, env)
		}
	}
	return env
}

var (
	variable = regexp.MustCompile(`\$?\$\([A-Za-z_.][-A-Za-z0-9_.]*\)`)
	// shellVariable takes $env:X and ${env:X} of PowerShell, %X% of cmd, $X and
	// ${X} of sh.
	shellVariable = regexp.MustCompile(`(?i)\$\{env:(\w+)\}|\$env:(\w+)|%(\w+)%|\$\{(\w+)\}|\$(\w+)`)
)

// expand puts $(NAME) in as the kubelet does: $$(NAME) escapes it, and a name
// that isn't there stays as it is written.
func expand(s string, env map[string]string) string {
	if !strings.Contains(s, "$(") {
		return s
	}
	return variable.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, "$$") {
			return m[1:]
		}
		if value, ok := env[m[2:len(m)-1]]; ok {
			return value
		}
		return m
	})
}

// expandShell puts in what a shell would of the container's own environment.
func expandShell(s string, env map[string]string) string {
	if !strings.ContainsAny(s, "$%") {
		return s
	}
	return shellVariable.ReplaceAllStringFunc(s, func(m string) string {
		for _, name := range shellVariable.FindStringSubmatch(m)[1:] {
			if value, ok := env[name]; ok && name != "" {
				return value
			}
		}
		return m
	})
}

// isLine tells a command line for a shell from an argument that has a space in
// it: C:\Program Files\x, or the value of a flag.
func isLine(arg string) bool {
	if !strings.ContainsAny(arg, " \n\t") || strings.HasPrefix(arg, "-") {
		return false
	}
	return strings.Contains(arg, " -") || strings.ContainsAny(arg, "\n;&|")
}

// splitLine cuts a command line at white space and at what separates commands.
// Quotes keep a word together and are dropped. A backslash is no escape: it is
// part of a Windows path far more often.
func splitLine(line string) []string {
	var words []string
	var b strings.Builder
	var quote rune
	inside := false
	end := func() {
		if inside {
			words = append(words, b.String())
			b.Reset()
			inside = false
		}
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inside = r, true
		case strings.ContainsRune(" \t\r\n;&|", r):
			end()
		default:
			b.WriteRune(r)
			inside = true
		}
	}
	end()
	return words
}

// flag finds the value of -name or --name, given with = or as the next word.
// Upper case isn't minded: some drivers write driverName.
func flag(words []word, names ...string) (word, bool) {
	for i, w := range words {
		bare, isFlag := strings.CutPrefix(w.text, "-")
		if !isFlag {
			continue
		}
		name, value, joined := strings.Cut(strings.TrimPrefix(bare, "-"), "=")
		for _, want := range names {
			switch {
			case !strings.EqualFold(name, want):
			case joined:
				return word{strings.Trim(value, `"'`), w.path}, true
			case i+1 < len(words) && !strings.HasPrefix(words[i+1].text, "-"):
				return words[i+1], true
			default:
				return word{"", w.path}, true
			}
		}
	}
	return word{}, false
}

// boolFlag finds a switch. As Go's flag package has it, a switch takes no value
// but one with =.
func boolFlag(words []word, names ...string) (value bool, at word, given bool) {
	for _, w := range words {
		bare, isFlag := strings.CutPrefix(w.text, "-")
		if !isFlag {
			continue
		}
		name, text, joined := strings.Cut(strings.TrimPrefix(bare, "-"), "=")
		for _, want := range names {
			if name == want {
				value, at, given = !joined || truth(text), w, true // the last one counts
			}
		}
	}
	return value, at, given
}

// truth reads a switch's value as strconv.ParseBool does, quoted or not.
func truth(s string) bool {
	switch strings.Trim(s, `"'`) {
	case "1", "t", "T", "true", "TRUE", "True":
		return true
	}
	return false
}
