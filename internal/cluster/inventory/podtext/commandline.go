// Package podtext reads what is written in a pod's fields: the words of a command
// line, image references, paths of Windows and names of pipes. It judges none of it.
package podtext

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Word is one argument of a container, with the path of its field.
type Word struct {
	Text string
	Path []any
}

// Words is a container's command line, command and args alike, with what its
// environment puts into it.
func Words(ct *corev1.Container, base []any) []Word {
	env := Environment(ct)
	var words []Word
	add := func(field string, args []string) {
		for i, arg := range args {
			path := append(slices.Clip(base), field, i)
			arg = Expand(arg, env)
			if !isLine(arg) {
				words = append(words, Word{arg, path})
				continue
			}
			for _, w := range splitLine(arg) {
				words = append(words, Word{expandShell(w, env), path})
			}
		}
	}
	add("command", ct.Command)
	add("args", ct.Args)
	return words
}

// Environment is what a container's environment says in plain text.
func Environment(ct *corev1.Container) map[string]string {
	env := make(map[string]string, len(ct.Env))
	for _, e := range ct.Env {
		if e.ValueFrom == nil {
			env[e.Name] = Expand(e.Value, env)
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

// Expand puts $(NAME) in as the kubelet does: $$(NAME) escapes it, and a name
// that isn't there stays as it is written.
func Expand(s string, env map[string]string) string {
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
	return !strings.HasPrefix(arg, "-") && (strings.Contains(arg, " -") || strings.ContainsAny(arg, "\n;&|") && strings.ContainsAny(arg, " \n\t"))
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

// flag takes -name or --name apart, with what is joined to it by =.
func flag(text string) (name, value string, joined, ok bool) {
	bare, ok := strings.CutPrefix(text, "-")
	name, value, joined = strings.Cut(strings.TrimPrefix(bare, "-"), "=")
	return name, strings.Trim(value, `"'`), joined, ok
}

// Flag finds the value of -name or --name, given with = or as the next word.
// Upper case isn't minded: some drivers write driverName.
func Flag(words []Word, names ...string) (Word, bool) {
	for i, w := range words {
		name, value, joined, ok := flag(w.Text)
		if !ok || !slices.ContainsFunc(names, func(want string) bool { return strings.EqualFold(name, want) }) {
			continue
		}
		if !joined && i+1 < len(words) && !strings.HasPrefix(words[i+1].Text, "-") {
			return words[i+1], true
		}
		return Word{value, w.Path}, true
	}
	return Word{}, false
}

// BoolFlag finds a switch. As Go's flag package has it, a switch takes no value
// but one with =, and the last one counts.
func BoolFlag(words []Word, want string) (on bool, at Word, given bool) {
	for _, w := range words {
		name, value, joined, ok := flag(w.Text)
		if ok && name == want {
			on, _ = strconv.ParseBool(value)
			on, at, given = on || !joined, w, true
		}
	}
	return on, at, given
}

// VariableName is NAME where an argument is $(NAME) and nothing else.
func VariableName(arg string) (string, bool) {
	if arg == "" || variable.FindString(arg) != arg {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimLeft(arg, "$("), ")"), true
}

// Unset tells whether a flag's value is a variable that the manifest doesn't
// set.
func Unset(flag string) bool {
	_, value, _ := strings.Cut(flag, "=")
	return IsTemplate(value) || shellVariable.MatchString(value)
}

// Dotted writes a path as people know it: spec.containers[0].image.
func Dotted(path []any) string {
	var b strings.Builder
	for _, p := range path {
		switch p := p.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", p)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, p)
		}
	}
	return b.String()
}

// Pointer writes a path as a JSON pointer: /spec/containers/0.
func Pointer(path []any) string {
	var b strings.Builder
	for _, p := range path {
		fmt.Fprintf(&b, "/%v", p)
	}
	return b.String()
}
