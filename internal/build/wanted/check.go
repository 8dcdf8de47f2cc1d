package wanted

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// The IDs of Check's findings. They are frozen once released.
const (
	Tree      = "payload.node"
	Malformed = "payload.node.malformed"
	Missing   = "payload.node.missing"
	Differs   = "payload.node.file"
	Signature = "payload.node.signed"
	NotPinned = "payload.node.pins"
)

// Check compares an image's node.json, nil for none, with the files next to it
// and with what the pins say. want is nil where
// no pins are known, or where they say nothing of nodes. unsigned has the sums of signed
// programs without their signatures, by path. Findings are sorted; object names node.json
// in them.
func Check(object string, data []byte, files []verify.File, unsigned map[string]string, want *node.Expectation) []finding.Finding {
	if data == nil {
		if want == nil {
			return nil
		}
		return []finding.Finding{bad(Missing, object, "no such file", "what versions.yaml says of services", "no node can be installed or checked from this image")}
	}
	e, err := node.Parse(data)
	if err != nil {
		what := err.Error()
		if f, ok := err.(*fault.Error); ok { //nolint:errorlint // Parse makes it
			what = f.What
		}
		return []finding.Finding{bad(Malformed, object, what, node.APIVersion, "bake and verify refuse it, or would read something else in it than its author")}
	}
	fs := append(present(object, e, files), pinnedAs(object, e, want)...)
	for _, f := range e.Files {
		if f.Unsigned != "" {
			fs = append(fs, signedAs(object, f, unsigned[f.Payload]))
		}
	}
	if len(fs) == 0 {
		fs = []finding.Finding{{ID: Tree, Object: object, Observed: inventory.Many(len(e.Files), "file") + ", " + inventory.Many(len(e.Services), "service")}}
	}
	finding.Sort(fs)
	return fs
}

func bad(id, object, observed, expected, why string) finding.Finding {
	return finding.Finding{ID: id, Severity: finding.Block, Object: object, Observed: observed, Expected: expected, Why: why,
		Remedy: "bake payload again from versions.yaml, and take the image from where it was built"}
}

// present compares files with those of the payload.
func present(object string, e *node.Expectation, files []verify.File) (fs []finding.Finding) {
	const why = "an install from this image would fail, or a node with its files would be found wrong"
	have := byName(files, func(f verify.File) string { return f.Path })
	one := func(path, sum string, size int64) {
		got, ok := have[path]
		switch {
		case !ok:
			fs = append(fs, bad(Differs, object+" "+path, "no such file in the payload", "sha256 "+sum, why))
		case got.SHA256 == "": // it couldn't be read, which is a problem of its own
		case got.SHA256 != sum || got.Size != size:
			fs = append(fs, bad(Differs, object+" "+path, fmt.Sprintf("sha256 %s, %d bytes", sum, size),
				fmt.Sprintf("sha256 %s, %d bytes, as in the payload", got.SHA256, got.Size), why))
		}
	}
	for _, f := range e.Files {
		one(f.Payload, f.SHA256, f.Size)
	}
	for _, k := range e.Kept {
		one(k.Path, k.SHA256, k.Size)
	}
	return fs
}

// signedAs compares a signed program, without its signature, with what was built.
func signedAs(object string, f node.File, got string) finding.Finding {
	if got == f.Unsigned {
		return finding.Finding{ID: Signature, Object: object + " " + f.Payload, Observed: "without its signature it is what was built, sha256 " + got}
	}
	if got == "" {
		got = "no signed program"
	}
	return bad(Signature, object+" "+f.Payload, got, "sha256 "+f.Unsigned+" without its signature", "what was signed isn't what was built from the pins")
}

// pinnedAs compares with what bake would write.
func pinnedAs(object string, e, want *node.Expectation) (fs []finding.Finding) {
	if want == nil {
		return nil
	}
	const why = "nodes would be made into something else than versions.yaml says"
	add := func(name, observed, expected string) {
		fs = append(fs, bad(NotPinned, strings.TrimSpace(object+" "+name), observed, expected, why))
	}
	if e.Release != want.Release {
		add("", "release "+e.Release, want.Release)
	}
	compare(add, "file ", e.Files, want.Files, func(f node.File) string { return f.Payload })
	compare(add, "kept file ", e.Kept, want.Kept, func(k payload.KeptFile) string { return k.Path })
	compare(add, "service ", e.Services, want.Services, func(s node.Service) string { return s.Name })
	return fs
}

// compare finds what is in one list alone, and the keys that differ.
func compare[T any](add func(name, observed, expected string), kind string, got, want []T, name func(T) string) {
	for _, d := range finding.Differences(byName(got, name), byName(want, name)) {
		switch {
		case d.Observed == nil:
			add(kind+d.Key, "it isn't listed", "what versions.yaml says")
		case d.Expected == nil:
			add(kind+d.Key, "it is listed", "nothing: versions.yaml doesn't have it")
		default:
			for _, f := range finding.Differences(d.Observed, d.Expected) {
				add(kind+d.Key, f.Key+": "+text(f.Observed), text(f.Expected))
			}
		}
	}
}

func byName[T any](list []T, name func(T) string) map[string]T {
	all := map[string]T{}
	for _, v := range list {
		all[name(v)] = v
	}
	return all
}

// text is a value of JSON for people.
func text(v any) string {
	if v == nil {
		return "not set"
	}
	data, _ := json.Marshal(v) // it came from JSON
	return string(data)
}
