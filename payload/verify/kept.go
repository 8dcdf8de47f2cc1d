package verify

import (
	"maps"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/payload"
)

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
