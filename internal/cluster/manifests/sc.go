package manifests

import (
	"bytes"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

//go:embed *.cmd.tmpl
var templates embed.FS

var scripts = template.Must(template.New("").Funcs(template.FuncMap{
	"number": func(i int) int { return i + 1 }, "token": token, "want": want, "base": base, "join": strings.Join, "separator": separator, "environment": environment, "actions": actions,
	"startWord":  func(s winsvc.Start) string { return startSettings[s].word },
	"startValue": func(s winsvc.Start) string { return startSettings[s].value },
}).ParseFS(templates, "*.cmd.tmpl"))

// maxLine is what cmd.exe reads of a line, less a margin for what it expands.
const maxLine = 8000

// script is what the templates see.
type script struct {
	Names    string
	Services []winsvc.Service
}

// SC writes the cmd.exe script that sets services up on a node without WMCO:
// log folder first, then create or reconfigure, failure actions, start, and
// wait until it runs. Lines end in CR LF.
func SC(services []winsvc.Service) ([]byte, error) {
	return render("setup.cmd.tmpl", winsvc.Ordered(services))
}

// UndoSC writes the script that takes back what SC's did. Programs and logs
// stay.
func UndoSC(services []winsvc.Service) ([]byte, error) {
	ordered := winsvc.Ordered(services)
	slices.Reverse(ordered)
	return render("undo.cmd.tmpl", ordered)
}

func render(name string, services []winsvc.Service) ([]byte, error) {
	var names []string
	for _, service := range services {
		if err := scriptable(service, services); err != nil {
			return nil, err
		}
		names = append(names, service.Name)
	}
	var b bytes.Buffer
	if err := scripts.ExecuteTemplate(&b, name, script{strings.Join(names, ", "), services}); err != nil {
		return nil, fmt.Errorf("write the script: %w", err)
	}
	for line := range strings.SplitSeq(b.String(), "\n") {
		if len(line) > maxLine {
			return nil, &fault.Error{What: fmt.Sprintf("a line of the script would have %d characters, and cmd.exe reads 8191", len(line)), Fix: "shorten the service's arguments or environment"}
		}
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n")), nil
}

// scriptable refuses what a script can't carry out or can't hold.
func scriptable(s winsvc.Service, all []winsvc.Service) error {
	where := "service " + s.Name
	if !s.Standalone() {
		return &fault.Error{Where: where, What: "only WMCO can set it up: it needs what the operator puts on the node", Fix: "leave it out: bake manifests setup-script csi-proxy"}
	}
	for _, d := range s.Dependencies {
		if !winsvc.KnownWindowsService(d) && !slices.ContainsFunc(all, func(o winsvc.Service) bool { return strings.EqualFold(o.Name, d) }) {
			return &fault.Error{Where: where, What: fmt.Sprintf("it depends on %s, which the script doesn't set up", d), Fix: "name both: bake manifests setup-script " + d + " " + s.Name}
		}
	}
	texts := append([]string{s.Path, s.LogDirectory, s.Display, s.Description, s.Account, s.Recovery.Command}, s.Arguments...)
	for k, v := range s.Environment {
		texts = append(texts, k, v)
	}
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			return &fault.Error{Where: where, What: fmt.Sprintf("cmd.exe reads scripts in the node's own code page, and %q has more than ASCII", text), Fix: "write it in ASCII, or use on the node: verify.exe node install"}
		}
	}
	if len(s.Environment) > 0 && separator(s.Environment) == "" {
		return &fault.Error{Where: where, What: "its environment holds every character that could separate variables", Fix: "do without one of " + separators}
	}
	if strings.ContainsAny(s.Path+s.LogDirectory, "=!") {
		return &fault.Error{Where: where, What: "its path holds = or !, which a cmd.exe script can't compare", Fix: "install the program elsewhere, or use on the node: verify.exe node install"}
	}
	return nil
}

// actions are what sc.exe is told of them.
func actions(r winsvc.Recovery) string {
	var words []string
	for _, a := range r.Actions {
		words = append(words, actionWords[a.Kind]+"/"+fmt.Sprint(a.Delay.Milliseconds()))
	}
	text := strings.Join(words, "/")
	if strings.HasPrefix(text, "/") {
		return `"` + text + `"` // nothing to do the first time
	}
	return text
}

// startSettings are sc.exe's words and the registry's values.
var startSettings = map[winsvc.Start]struct{ word, value string }{
	winsvc.StartAutomatic: {"auto", "0x2"},
	winsvc.StartDelayed:   {"delayed-auto", "0x2"},
	winsvc.StartManual:    {"demand", "0x3"},
	winsvc.StartDisabled:  {"disabled", "0x4"},
}

var actionWords = map[winsvc.ActionKind]string{winsvc.ActionRestart: "restart", winsvc.ActionReboot: "reboot", winsvc.ActionRun: "run", winsvc.ActionNone: ""}

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

// environment is a list of NAME=value.
func environment(variables map[string]string, separator string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		list = append(list, name+"="+variables[name])
	}
	return strings.Join(list, separator)
}
