package action

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/autoescape"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

//go:embed *.yaml
var files embed.FS

// scripts are the files beside the types, and the partials that they share. A template is
// named by its own text, one for the shell with a $ before; what the latter write goes
// through word.
type scripts struct {
	actions   map[string]finding.Action
	templates *template.Template
}

var loaded = sync.OnceValue(func() *scripts {
	s := &scripts{actions: map[string]finding.Action{}, templates: template.New("").Delims("[[", "]]").Funcs(functions(nil))}
	text := func(text string) string { template.Must(s.templates.New(text).Parse(text)); return "" }
	line := func(name, line string) { autoescape.With(template.Must(s.templates.New(name).Parse(line)), "word") }
	const shared = "partials.yaml"
	partials := map[string]string{}
	names, err := fs.Glob(files, "*.yaml")
	for _, name := range names {
		into := any(&s.actions)
		if name == shared {
			into = &partials
		}
		data, rerr := files.ReadFile(name)
		err = errors.Join(err, rerr, yaml.UnmarshalStrict(data, into))
	}
	if err != nil {
		panic(err) // part of the program
	}
	for name, partial := range partials {
		line(name, partial)
	}
	for _, form := range s.actions {
		mapped(form, text, func(s string) string { line("$"+s, s); return "" })
	}
	return s
})

// mapped makes other texts, and other lines for the shell, of an action's.
func mapped(a finding.Action, text, line func(string) string) finding.Action {
	all := func(list []string, of func(string) string) (out []string) {
		for _, s := range list {
			out = append(out, slices.DeleteFunc(strings.Split(of(s), "\x00"), func(s string) bool { return s == "" })...)
		}
		return out
	}
	a.Object, a.Summary, a.NoUndo, a.Interrupts, a.Judge = text(a.Object), text(a.Summary), text(a.NoUndo), text(a.Interrupts), text(a.Judge)
	a.Needs, a.Commands, a.Wait, a.Undo, a.Done, a.Final = all(a.Needs, text), all(a.Commands, line), all(a.Wait, line), all(a.Undo, line), line(a.Done), line(a.Final)
	a.Asks = slices.Clone(a.Asks)
	for i := range a.Asks {
		a.Asks[i].Text, a.Asks[i].Command = text(a.Asks[i].Text), line(a.Asks[i].Command)
	}
	return a
}

// record is an action as reports show it. later are the values that later actions of
// the plan give to what this one sets.
func record(a Action, later []string) finding.Action {
	if by, ok := a.(ByOwner); ok {
		return by.record(record(by.Change, later))
	}
	s := loaded()
	templates := s.templates
	if len(later) > 0 {
		templates = template.Must(templates.Clone()).Funcs(functions(later))
	}
	write := func(name string) string {
		var b strings.Builder
		if name == "" || name == "$" {
			return ""
		}
		if err := templates.ExecuteTemplate(&b, name, a); err != nil {
			panic(err) // a test writes one of each
		}
		return b.String()
	}
	kind := kind(a)
	r := mapped(s.actions[kind], write, func(line string) string { return write("$" + line) })
	r.Kind, r.Asks = kind, used(r.Asks, slices.Concat(r.Commands, r.Wait, r.Undo, []string{r.Done}))
	return r
}

// kind is an action's name in its file: that of its type, or its own.
func kind(a Action) string {
	if named, ok := a.(interface{ kind() string }); ok {
		return named.kind()
	}
	return strings.ToLower(capital.ReplaceAllString(strings.TrimPrefix(fmt.Sprintf("%T", a), "action."), "$1-$2"))
}

var capital = regexp.MustCompile(`([a-z])([A-Z])`)

// used are the asks whose variables lines have.
func used(asks []finding.Ask, lines []string) []finding.Ask {
	return slices.DeleteFunc(asks, func(ask finding.Ask) bool { return !ask.UsedIn(lines...) })
}

// raw is a part of a line that the shell is to read as it is.
type raw string

// word is a value as one word for the shell, and a list as a word for each of its
// elements. No word holds a NUL.
func word(value any) string {
	switch v := value.(type) {
	case raw:
		return string(v)
	case []string:
		var words []string
		for _, s := range v {
			words = append(words, word(s))
		}
		return strings.Join(words, " ")
	}
	return shell.Word(strings.ReplaceAll(fmt.Sprint(value), "\x00", ""))
}

// functions are what the files call.
func functions(later []string) template.FuncMap {
	funcs := template.FuncMap{
		"later": func() bool { return len(later) > 0 },
		// anyOf are grep's words for values, or for what comes later.
		"anyOf": func(values ...string) raw {
			var words []string
			for _, v := range slices.Concat(values, later) {
				words = append(words, "-e "+string(image(v)))
			}
			return raw(strings.Join(words, " "))
		},
	}
	maps.Copy(funcs, template.FuncMap{
		"word": word, "oc": oc, "get": get, "kind": kindOf, "saved": Saved, "some": inventory.Some, "newEnough": newEnough,
		"each": each, "registers": Action.registers,
		"ref":        func(o inventory.Object) string { return kindOf(o) + "/" + o.Name },
		"inside":     func(folder, file string) string { return folder + "/" + file },
		"payload":    func(release string) string { return "release-" + release + ".txt" },
		"made":       func(folder string) string { return folder + "-made.txt" },
		"line":       func(line string) raw { return raw(line) },
		"image":      image,
		"docker":     func(image string) string { return "docker://" + image },
		"repository": func(image string) string { repository, _ := cutTag(image); return repository },
		"gather":     func(list []*inventory.Gather) raw { return raw(strings.Join(inventory.GatherLines(list), "\x00")) },
		"patch":      func(f *Flags) string { _, patch := f.change(); return patch },
		"called":     func(f *Flags) string { to, _ := f.change(); return jsonOf(to.Command) + jsonOf(to.Args) },
		"callPath":   (*Flags).jsonPath,
	})
	return funcs
}

// each are objects of a kind by their names, "node/a".
func each(kind string, names []string) []string {
	out := slices.Clone(names)
	for i := range out {
		out[i] = kind + out[i]
	}
	return out
}

// oc is oc with an object's namespace. A manifest may leave that to the command that
// applies it.
func oc(o inventory.Object) raw {
	if o.Namespace == "" {
		return `oc -n "${NAMESPACE:?}"`
	}
	return raw("oc -n " + word(o.Namespace))
}

func get(o inventory.Object) raw {
	return oc(o) + raw(" get "+word(kindOf(o)+"/"+o.Name))
}

// image is a reference as a word, or what Built says has it: "" before it is there.
func image(reference string) raw {
	if file, built := strings.CutPrefix(reference, "@"); built {
		return raw(`"$(cat ` + word(file) + ` 2>/dev/null)"`)
	}
	return raw(word(reference))
}

// newEnough is an awk that every line, a version, must be of a minor release of WMCO
// for, or of a newer one: no line at all is no answer. The release may be named as its
// ClusterServiceVersion is.
func newEnough(wmco string) raw {
	major, rest, _ := strings.Cut(strings.TrimPrefix(wmco, "windows-machine-config-operator.v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	return raw("awk -F. -v major=" + word(major) + " -v minor=" + word(minor) + ` 'major > $1 || major == $1 && minor > $2 { bad = 1 } END { exit bad || NR == 0 }'`)
}

// kindOf is an object's kind as oc takes it.
func kindOf(o inventory.Object) string { return strings.ToLower(cmp.Or(o.Kind, "DaemonSet")) }
