package manifests

import (
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/winsvc"
)

// token writes text as one argument of a program on a line of a batch file:
// quoted first as the program reads it, then escaped as cmd.exe does.
func token(text string) string {
	argument := winsvc.QuoteArgument(text)
	if !strings.HasPrefix(argument, `"`) { // quoted always: cmd.exe splits at , ; and = too
		argument = `"` + argument + strings.Repeat(`\`, trailing(argument, '\\')) + `"`
	}
	if strings.Count(argument, `"`) == 2 {
		return percents(argument) // nothing between quotes means anything to cmd.exe
	}
	return carets(argument)
}

// want writes what follows SET to give the script's variable want a text.
func want(text string) string {
	if !strings.Contains(text, `"`) {
		return percents(`"want=` + text + `"`)
	}
	return "want=" + carets(text)
}

// carets escapes each character that cmd.exe would act upon, quotes too: then
// it never takes a part of the text for quoted and another for not.
func carets(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(`"&|<>^()`, r) {
			b.WriteByte('^')
		}
		b.WriteRune(r)
	}
	return percents(b.String())
}

func percents(text string) string { return strings.ReplaceAll(text, "%", "%%") }

func trailing(s string, c byte) int {
	n := 0
	for n < len(s) && s[len(s)-1-n] == c {
		n++
	}
	return n
}

func base(path string) string { return path[strings.LastIndexByte(path, '\\')+1:] }

// separators are what reg.exe may be told to split a list at.
const separators = ";#~?@$"

// separator is one that is in none of the variables, "" if all are.
func separator(environment map[string]string) string {
	for _, c := range separators {
		free := true
		for name, value := range environment {
			free = free && !strings.ContainsRune(name+value, c)
		}
		if free {
			return string(c)
		}
	}
	return ""
}

func environment(s winsvc.Service, out *scriptService) {
	if len(s.Environment) == 0 {
		return
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(s.Environment)) {
		list = append(list, name+"="+s.Environment[name])
	}
	out.Separator = separator(s.Environment)
	out.Environment = token(strings.Join(list, out.Separator))
	out.WantEnvironment = want(strings.Join(list, `\0`))
}
