package catalog

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/strictyaml"
	"github.com/winbake/winbake/internal/base/version"
)

// checker finds the mistakes of a merged catalog.
type checker struct {
	*merger
	// known are the names that rows may refer to, by form.
	known map[string]map[string]bool
	found []placed
}

type placed struct {
	doc, line int
	fault     *fault.Error
}

// unseen is a Manifest whose place wasn't seen.
const unseen = "unknown"

// placeholder means the version in Manifest and Render.
const placeholder = "{{version}}"

// check judges the merged catalog and returns its first mistake in the order
// of reading, nil if there is none.
func (m *merger) check() error {
	k := &checker{merger: m, known: map[string]map[string]bool{"driver": {}, "plugin": {}, "release": {}, "proxy": {}}}
	for _, d := range m.into.Drivers {
		k.known["driver"][d.Name], k.known["plugin"][d.InTree] = true, true
	}
	for _, r := range m.into.Releases {
		k.known["release"][r.OpenShift] = true
	}
	for _, r := range m.into.CSIProxy {
		k.known["proxy"][r.Version] = true
	}
	for _, key := range m.doubles {
		rowCheck{k, key}.badAt(nil, "this row is there twice", "remove one of them")
	}
	m.into.sections(func(name string, rows reflect.Value) {
		for i := range rows.Len() {
			rowCheck{k, rowKey{name, rows.Index(i).Addr().Interface().(row).key()}}.fields(rows.Index(i), nil)
		}
	})
	k.checkNeighbours()
	return k.first()
}

func (k *checker) first() error {
	if len(k.found) == 0 {
		return nil
	}
	slices.SortStableFunc(k.found, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.doc, b.doc), cmp.Compare(a.line, b.line))
	})
	first := k.found[0].fault
	switch more := len(k.found) - 1; more {
	case 0:
	case 1:
		first.What += " (there is one more mistake)"
	default:
		first.What += fmt.Sprintf(" (there are %d more mistakes)", more)
	}
	return first
}

// rowCheck judges one row. Paths lead from the row to a part of it, by the names
// of fields and the indexes of lists.
type rowCheck struct {
	k   *checker
	key rowKey
}

func (r rowCheck) badAt(path []any, what, fix string) {
	from := r.k.from[r.key]
	if len(from) == 0 {
		r.k.found = append(r.k.found, placed{fault: &fault.Error{Where: r.key.section + " " + r.key.key, What: what, Fix: fix}})
		return
	}
	at := from[len(from)-1]
	part := path[:min(len(path), 1)]
	if len(path) > 1 && path[0] == "drivers" {
		part = path[:2]
	}
	// A release is merged of several rows: the last one that has the part wrote it.
	for i := len(from) - 1; r.key.section == "releases" && i >= 0; i-- {
		if _, whole := from[i].place(part); whole {
			at = from[i]
			break
		}
	}
	n, _ := at.place(path)
	// The last document on top is the one that somebody has just written.
	order := -slices.Index(r.k.docs, at.doc)
	r.k.found = append(r.k.found, placed{order, n.Line, at.doc.At(n, what, fix)})
}

// fields judges what the tags of a struct say of its fields, then what its type
// checks itself. A tag check names a form, a tag oneOf lists the values; fields
// that may be left out are judged where they are there.
func (r rowCheck) fields(v reflect.Value, path []any) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if name := strictyaml.Key(field); name != "" {
			r.value(v.Field(i), field.Tag, below(path, name))
		}
	}
	if own, ok := v.Addr().Interface().(interface{ check(r rowCheck, path []any) }); ok {
		own.check(r, path)
	}
}

func (r rowCheck) value(v reflect.Value, tag reflect.StructTag, path []any) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			r.value(v.Elem(), tag, path)
		}
	case reflect.Struct:
		r.fields(v, path)
	case reflect.Slice:
		if v.Len() == 0 && v.Type() == reflect.TypeFor[[]Evidence]() {
			r.badAt(path, "this has no evidence", "say where it is known from: evidence: [{source: https://...}]")
		}
		for i := range v.Len() {
			r.value(v.Index(i), tag, below(path, i))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			r.value(it.Value(), tag, below(path, it.Key().String()))
		}
	case reflect.String:
		r.text(v.String(), tag, path)
	}
}

func (r rowCheck) text(value string, tag reflect.StructTag, path []any) {
	check, option, _ := strings.Cut(tag.Get("check"), ",")
	values := strings.Fields(tag.Get("oneOf"))
	optional := strings.HasSuffix(tag.Get("json"), ",omitempty")
	name, named := path[len(path)-1].(string)
	switch {
	case check == "" && len(values) == 0 || value == "" && (optional || option == "optional"):
	case value == "" && named:
		r.badAt(path, name+" is missing", "write it")
	case len(values) == 0:
		if what, fix := forms[check](r.k, value); what != "" {
			r.badAt(path, what, fix)
		}
	case !slices.Contains(values, value):
		r.badAt(path, fmt.Sprintf("%s can't be %s", name, printable.Quote(value)), fmt.Sprintf("write one of %q", values))
	}
}

func below(path []any, step ...any) []any { return slices.Concat(path, step) }

// form judges a text: what is wrong with it, "" for nothing, and how to correct it.
type form func(k *checker, value string) (what, fix string)

// forms are what tags may name.
var forms = map[string]form{
	"text":           valid(func(string) bool { return true }, "", ""),
	"driver":         known("driver", "there is no driver %s", "write a name of the section drivers, such as azure-disk"),
	"release":        known("release", "there is no release %s", `write a minor of the section releases, such as "4.20"`),
	"proxy":          known("proxy", "there is no csi-proxy %s", "write a version of the section csiProxy"),
	"plugin":         known("plugin", "no driver has the in-tree name %s", "write kubernetes.io/azure-disk, or add the driver"),
	"version":        parsed(version.ParseDriver, "write it as 1.33.1"),
	"wmco":           parsed(version.ParseWMCO, "write it as 10.19.0"),
	"range":          valid(isRange, "%s is no range of versions", `write ">=1.28.0 <1.33.0"`),
	"minor":          valid(isMinor(version.ParseOpenShift), "%s is no minor of OpenShift", `write "4.20"`),
	"kubernetes":     valid(isMinor(version.ParseKubernetes), "%s is no minor of Kubernetes", `write "1.33"`),
	"day":            valid(day.MatchString, "%s is no day", `write it as "2023-08-23"`),
	"head":           valid(day.MatchString, "head %s is no day", `write it as "2026-08-31"`),
	"commit":         matching(`^[0-9a-f]{12,40}$`, "%s is no commit", "write 12 to 40 digits of 0-9a-f"),
	"full commit":    matching(`^[0-9a-f]{40}$`, "%s isn't a full commit", "write all 40 digits"),
	"digest":         matching(`^sha256:[0-9a-f]{64}$`, "%s is no digest", "write sha256: and 64 digits of 0-9a-f"),
	"ack":            matching(`^ack-[0-9]+\.[0-9]+-[^-]`, "%s is no key of an acknowledgement", "write it as in the ConfigMap admin-gates: ack-4.12-..."),
	"group":          matching("^"+group+"$", "csi-proxy has no group %s", "write disk, filesystem, smb, volume, system or iscsi"),
	"api":            matching("^"+apiVer+"$", "%s is no API version", "write v1 or v1beta2"),
	"pipe":           matching("^"+group+"-"+apiVer+"$", "%s is no group with its version", "write disk-v1"),
	"flag":           matching(`^--`, "a flag begins with two dashes, not %s", "write --enable-windows-host-process"),
	"lines":          matching(`^[\w.-]+/[\w.-]+@[\w./-]+:[\w./-]+#L[0-9]+(-L[0-9]+)?$`, "%s names no lines of a file", "write repository@commit:path#L1-L9"),
	"repository URL": matching(`^https://`, "%s isn't a repository", "write https://HOST/OWNER/NAME"),
	"package":        matching(`^\./`, "%s isn't a package of the repository", "write ./cmd/x"),
	"repository":     matching(`^([^ \t]*/)?[^ \t:@/]*$`, "%s is no repository", "write it without tag and digest, as registry.k8s.io/csi-vsphere/driver"),
	"manifest":       valid(isTemplate, "%s is no URL with "+placeholder+" in it", "write https://.../v"+placeholder+"/... or "+unseen),
	"payload file":   valid(isFile, "%s is no file of a payload", "write its path below /payload, without .tar.gz: csi-proxy/csi-proxy.exe"),
	// These are the types of Infrastructure's platform on which Windows nodes run.
	"platform": matching(`^(AWS|Azure|BareMetal|External|GCP|None|Nutanix|VSphere)$`, "there is no platform %s",
		"write AWS, Azure, BareMetal, External, GCP, None, Nutanix or VSphere"),
}

const (
	group  = `(disk|filesystem|smb|volume|system|iscsi)`
	apiVer = `v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?`
)

var day = regexp.MustCompile(`^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`)

// valid is the form of what a test accepts.
func valid(ok func(string) bool, what, fix string) form {
	return func(_ *checker, value string) (string, string) {
		if ok(value) {
			return "", ""
		}
		return fmt.Sprintf(what, printable.Quote(value)), fix
	}
}

func matching(expression, what, fix string) form {
	return valid(regexp.MustCompile(expression).MatchString, what, fix)
}

// known is the form of a name that another section has.
func known(names, what, fix string) form {
	return func(k *checker, value string) (string, string) {
		return valid(func(s string) bool { return k.known[names][s] }, what, fix)(k, value)
	}
}

// parsed is the form of what a function reads.
func parsed[T any](parse func(string) (T, error), fix string) form {
	return func(_ *checker, value string) (string, string) {
		if _, err := parse(value); err != nil {
			return err.Error(), fix
		}
		return "", ""
	}
}

func isRange(s string) bool {
	_, err := version.ParseRange(s)
	return err == nil
}

func isMinor[T interface{ MinorString() string }](parse func(string) (T, error)) func(string) bool {
	return func(s string) bool {
		v, err := parse(s)
		return err == nil && v.MinorString() == s
	}
}

func isTemplate(s string) bool {
	u, err := url.Parse(strings.ReplaceAll(s, placeholder, "1.0.0"))
	return s == unseen || err == nil && u.Scheme == "https" && u.Host != "" && strings.Contains(s, placeholder)
}

func isFile(s string) bool { return fs.ValidPath(s) && s != "." && !strings.HasSuffix(s, ".tar.gz") }
