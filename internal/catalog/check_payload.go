package catalog

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/printable"
)

// sourceLines are repository@ref:path with the lines.
var sourceLines = regexp.MustCompile(`^[\w.-]+/[\w.-]+@[\w./-]+:[\w./-]+#L[0-9]+(-L[0-9]+)?$`)

// platforms are the types of Infrastructure's platform on which Windows nodes
// run.
var platforms = []string{"AWS", "Azure", "BareMetal", "External", "GCP", "None", "Nutanix", "VSphere"}

func (k *checker) checkOperators() {
	for _, o := range k.into.Operators {
		r := k.row(sectionOperators, o.OpenShift)
		r.release(o.OpenShift, "openshift")
		r.listed(o.Start, "start")
		r.listed(o.Configure, "configure")
	}
}

func (r rowCheck) listed(source string, path ...any) {
	if source == "" {
		r.wanted(source, path...)
	} else if !sourceLines.MatchString(source) {
		r.badAt(path, fmt.Sprintf("%s names no lines of a file", printable.Quote(source)), "write repository@commit:path#L1-L9")
	}
}

func (k *checker) checkPayload() {
	for i, f := range k.into.Payload {
		r := k.row(sectionPayload, payloadKey(f))
		if !fs.ValidPath(f.Path) || f.Path == "." || strings.HasSuffix(f.Path, ".tar.gz") {
			r.badAt([]any{"path"}, fmt.Sprintf("%s is no file of a payload", printable.Quote(f.Path)), "write its path below /payload, without .tar.gz: csi-proxy/csi-proxy.exe")
		}
		oneOf(r, f.When, []When{Start, Configure}, "when")
		r.platforms(f.Platforms, "platforms")
		r.platforms(f.Nodes, "nodes")
		r.evidence(f.Evidence)
		r.minors(f.From, f.Until)
		for _, before := range k.into.Payload[:i] {
			if before.Path == f.Path && (before.Until == "" || compareMinor(before.Until, f.From) > 0) {
				r.badAt([]any{"from"}, fmt.Sprintf("the row from %s holds this release already", printable.Clip(before.From)), "write until in that row, or another from")
			}
		}
	}
}

func (r rowCheck) minors(from, until string) {
	r.release(from, "from")
	if until == "" {
		return
	}
	r.release(until, "until")
	if compareMinor(until, from) <= 0 {
		r.badAt([]any{"until"}, fmt.Sprintf("the range ends at %s, before it begins at %s", printable.Clip(until), printable.Clip(from)), "until is the first minor that isn't in the range")
	}
}

func (r rowCheck) platforms(names []string, field string) {
	for i, name := range names {
		if !slices.Contains(platforms, name) {
			r.badAt([]any{field, i}, fmt.Sprintf("there is no platform %s", printable.Quote(name)), fmt.Sprintf("write one of %q", platforms))
		}
	}
}
