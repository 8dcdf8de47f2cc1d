package action

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/shell"
)

// record is a finding.Action that is being written.
type record struct {
	finding.Action
	// later are the values that later actions of the plan give to what this one
	// sets.
	later []string
}

// raw is a part of a line that the shell is to read: a redirection, a pipe.
type raw string

// asked is a word that holds a value which only a person knows.
type asked struct {
	before string
	finding.Ask
}

// joined is one word, name=value.
type joined struct{ name, value any }

// line is a command line. A string is one word, quoted as the shell needs it.
func (r *record) line(words ...any) string {
	var list []string
	for _, w := range words {
		switch w := w.(type) {
		case raw:
			list = append(list, string(w))
		case asked:
			if !slices.Contains(r.Asks, w.Ask) {
				r.Asks = append(r.Asks, w.Ask)
			}
			list = append(list, w.before+`"$`+w.Name+`"`)
		case joined:
			list = append(list, r.line(w.name)+"="+r.line(w.value))
		case []any:
			list = append(list, r.line(w...))
		case []string:
			for _, s := range w {
				list = append(list, shell.Word(s))
			}
		default:
			list = append(list, shell.Word(fmt.Sprint(w)))
		}
	}
	return strings.Join(list, " ")
}

func (r *record) run(words ...any)  { r.Commands = append(r.Commands, r.line(words...)) }
func (r *record) wait(words ...any) { r.Wait = append(r.Wait, r.line(words...)) }
func (r *record) undo(words ...any) { r.Undo = append(r.Undo, r.line(words...)) }
func (r *record) done(words ...any) { r.Done = r.line(words...) }

func (r *record) say(kind, format string, args ...any) {
	r.Kind, r.Summary = kind, fmt.Sprintf(format, args...)
}

// listed is a file that a user has named, as the value of -f: oc reads a list there,
// as in CSV.
func listed(file string) string {
	if !strings.ContainsAny(file, `,"`) {
		return file
	}
	return `"` + strings.ReplaceAll(file, `"`, `""`) + `"`
}

// in is -n and an object's namespace. A manifest may leave it to the command
// that applies it.
func in(o inventory.Object) []any {
	if o.Namespace == "" {
		return []any{raw("-n"), asked{"", finding.Ask{Name: "NAMESPACE", Text: "the namespace of " + o.String(), Command: "oc get daemonsets -A"}}}
	}
	return []any{"-n", o.Namespace}
}

// kindOf is an object's kind as oc takes it.
func kindOf(o inventory.Object) string { return strings.ToLower(cmp.Or(o.Kind, "DaemonSet")) }

// is tests that a field of an object has a value.
func (r *record) is(value any, get ...any) string {
	return r.line(append(get, raw("| grep -qx --"), value)...)
}

// or are grep's words for a value or one that comes later.
func (r *record) or(value string) []any {
	words := []any{"-e", value}
	for _, v := range r.later {
		words = append(words, "-e", v)
	}
	return words
}

// save keeps an object as it is, once, in a file that oc can create or replace
// it from: without what ties it to one moment, and without more fields of its
// metadata and spec.
func (r *record) save(o inventory.Object, file string, without ...string) {
	var drop []string
	for _, field := range append([]string{"resourceVersion", "uid"}, without...) {
		drop = append(drop, "/^  "+field+":/d")
	}
	r.run(raw("test -s"), file, raw("||"), "oc", in(o), "get", kindOf(o), o.Name, "-o", "yaml",
		raw("| sed '"+strings.Join(drop, ";")+"' >"), file)
}

// unmake deletes what oc apply has noted in a file as created, in the namespace of
// an object: what was there before stays.
func (r *record) unmake(made string, o inventory.Object) {
	r.undo(raw("test ! -e"), made, raw("|| sed -n 's/ created$//p'"), made, raw("| xargs -r oc"), in(o), "delete", "--ignore-not-found")
}
