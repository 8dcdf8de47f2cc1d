package verify

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/payload"
)

func (r *payloadReader) judge() {
	slices.SortFunc(r.files, func(a, b File) int { return strings.Compare(a.stored(), b.stored()) })
	if len(r.files) == 0 && r.sums == nil {
		observed := "no such folder"
		if r.root {
			observed = "no files in it"
		}
		r.Add(problem(IDMissing, "/"+payload.Root, observed, "the files of a Windows node"))
		return
	}
	if program := func(f File) bool { return r.isProgram(f.Path) }; r.sums == nil && r.generated == nil && !slices.ContainsFunc(r.files, program) {
		r.Add(problem(IDMissing, "/"+payload.Root, "no program among "+some("stored", r.stored()), "the files of a Windows node"))
		return // another folder or image: what is wrong with each file says nothing
	}
	r.judgeFormat()
	r.judgeSums()
	r.judgeNames()
	r.judgeGenerated()
}

// format is what all files agree on; empty when they don't.
func (r *payloadReader) format() payload.Format {
	raw, archived := r.byFormat()
	switch {
	case len(raw)+len(archived) == 0, len(raw) > 0 && len(archived) > 0:
		return ""
	case len(raw) > 0:
		return payload.Flat
	}
	return payload.Archived
}

func (r *payloadReader) byFormat() (raw, archived []string) {
	for _, f := range r.files {
		if f.Archived {
			archived = append(archived, f.stored())
		} else {
			raw = append(raw, f.stored())
		}
	}
	return raw, archived
}

func (r *payloadReader) stored() []string {
	raw, archived := r.byFormat()
	return append(raw, archived...)
}

func (r *payloadReader) judgeFormat() {
	raw, archived := r.byFormat()
	if len(raw) > 0 && len(archived) > 0 {
		r.Add(problem(IDFormat, "/"+payload.Root, fmt.Sprintf("mixed: %s, but %s", some("raw", raw), some("archived", archived)),
			"all files raw, or all archived"))
		return
	}
	e, got := r.checker.opts.Expected, r.format()
	if e != nil && e.Format != "" && got != "" && got != e.Format {
		r.Add(problem(IDFormat, "/"+payload.Root, string(got), string(e.Format)))
	}
}

// some names the first of a list.
func some(what string, list []string) string {
	const most = 3
	names := strings.Join(list[:min(most, len(list))], ", ")
	if len(list) > most {
		names += ", ..."
	}
	return fmt.Sprintf("%d %s (%s)", len(list), what, names)
}

// judgeSums compares with the sha256sum file. Flat payloads have none.
func (r *payloadReader) judgeSums() {
	if r.sums == nil {
		if _, archived := r.byFormat(); len(archived) > 0 {
			r.Add(problem(IDSumMissingFile, sumsPath, "no such file", "a line for each file"))
		}
		return
	}
	s, ps := parseSums(sumsPath, r.sums)
	r.problems = append(r.problems, ps...)
	r.problems = append(r.problems, s.compare(sumsPath, r.files)...)
}

func (r *payloadReader) judgeNames() {
	byName := map[string][]string{}
	for _, f := range r.files {
		key := strings.ToLower(path.Base(f.Path))
		byName[key] = append(byName[key], f.stored())
	}
	for _, key := range slices.Sorted(maps.Keys(byName)) {
		if list := byName[key]; len(list) > 1 {
			r.Add(problem(IDBasenameDuplicate, list[1], "the same base name as "+list[0], "base names that differ"))
		}
	}
}

func (r *payloadReader) judgeGenerated() {
	const want = "an empty folder with mode 0777"
	switch {
	case r.generated == nil:
		r.Add(problem(IDGenerated, generatedPath, "no such folder", want))
	case r.generated.Perm() != 0o777:
		r.Add(problem(IDMode, generatedPath, octal(*r.generated), want))
	}
}

// expected compares the files with those of the pins. Files that labels say
// came with a base are held to the labels.
func (r *result) expected(e *payload.Tree) (ps []Problem) {
	empty := func(p Problem) bool { return p.ID == IDMissing || p.ID == IDTarBomb }
	if e == nil || e.Files == nil || slices.ContainsFunc(r.problems, empty) {
		return nil
	}
	want := map[string]payload.File{}
	for _, f := range e.Files {
		want[f.Path] = f
	}
	for _, f := range r.summary.Files {
		e, ok := want[f.Path]
		delete(want, f.Path)
		switch {
		case !ok && !slices.ContainsFunc(r.summary.Kept, func(k payload.KeptFile) bool { return k.Path == f.Path }):
			ps = append(ps, problem(IDFileUnexpected, f.stored(), "a file that no component accounts for", "only the files of the pins"))
		case e.SHA256 != "" && f.SHA256 != "" && e.SHA256 != f.SHA256:
			ps = append(ps, problem(IDFileDigest, f.stored(), "sha256 "+f.SHA256, e.SHA256))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(want)) {
		ps = append(ps, problem(IDFileMissing, payload.Root+"/"+p, "no such file", "the file that a pin lists"))
	}
	return ps
}

// keptOf reads the labels of files that came with the base.
func keptOf(labels map[string]string) (kept []payload.KeptFile, ps []Problem) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		name, ours := strings.CutPrefix(key, payload.KeptLabel(""))
		if !ours {
			continue
		}
		file, base, _ := strings.Cut(labels[key], " ")
		sum, err := v1.NewHash(file)
		if _, baseErr := v1.NewHash(base); err != nil || baseErr != nil {
			ps = append(ps, problem(IDKept, payload.Root+"/"+name, "the label "+printable.Quote(key+"="+labels[key]), "two digests with a space between"))
			continue
		}
		kept = append(kept, payload.KeptFile{Path: name, SHA256: sum.Hex, Base: base})
	}
	return kept, ps
}

// kept compares the files that should have come with the base with what is
// there.
func (r *result) kept() (ps []Problem) {
	files := map[string]File{}
	for _, f := range r.summary.Files {
		files[f.Path] = f
	}
	for i, k := range r.summary.Kept {
		f, ok := files[k.Path]
		switch {
		case !ok:
			ps = append(ps, problem(IDKept, payload.Root+"/"+k.Path, "no such file", "the file that came with the base, as label "+payload.KeptLabel(k.Path)+" says"))
		case f.SHA256 != "" && f.SHA256 != k.SHA256:
			ps = append(ps, problem(IDKept, f.stored(), "sha256 "+f.SHA256, k.SHA256+", as label "+payload.KeptLabel(k.Path)+" says"))
		}
		r.summary.Kept[i].Size = f.Size
	}
	return ps
}
