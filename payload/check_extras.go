package payload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxVerify bounds verify.exe in bytes, which is held in memory: five times
// its size.
const maxVerify = 64 << 20

// visitExtras takes one entry below ExtrasRoot in.
func (r *payloadReader) visitExtras(e *Entry) error {
	name := strings.TrimPrefix(e.Path, ExtrasRoot+"/")
	r.mode(e)
	switch {
	case e.Path == ExtrasRoot:
		return nil
	case e.Mode.IsDir() || !slices.Contains(extraNames, name):
		r.unexpectedExtra(e.Path)
		return nil
	case name == VerifyName && e.Size > maxVerify, name == ExpectationName && e.Size > maxExpectation:
		return &LimitError{e.Path, fmt.Sprintf("a file of %d bytes", e.Size), "a few MB"}
	}
	return r.extras.take(e)
}

func (r *payloadReader) unexpectedExtra(object string) {
	r.add(problem(IDExtrasUnexpected, object, "something that bake doesn't put there", strings.Join(extraNames, " and ")+" alone"))
}

// extrasDir reads the folder beside a payload's, and names what else is in it.
func (r *payloadReader) extrasDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return unreadable(dir, err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.Contains(extraNames, e.Name()) {
			r.unexpectedExtra(filepath.Join(dir, e.Name()))
		}
	}
	x, err := readExtrasDir(dir)
	if err != nil {
		return err
	}
	r.extras = *x
	return nil
}

// labelled compares the extras with the labels that name their sums, in both
// directions. A base's labels are dropped when a payload is put onto it.
func (x *Extras) labelled(labels map[string]string) (ps []Problem) {
	have := map[string][]byte{ExpectationName: x.Expectation, VerifyName: x.Verify}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		object, data, want := ExtrasRoot+"/"+name, have[name], labels[ExtrasLabel(name)]
		switch {
		case data == nil && want != "":
			ps = append(ps, problem(IDExtrasMissing, object, "no such file", want+", as label "+ExtrasLabel(name)+" says"))
		case data != nil && want == "":
			ps = append(ps, problem(IDExtrasUnexpected, object, "a file that no label speaks of", "label "+ExtrasLabel(name)+" with its sum"))
		case data != nil && sha256Of(data) != want:
			ps = append(ps, problem(IDExtrasDigest, object, sha256Of(data), want+", as label "+ExtrasLabel(name)+" says"))
		}
	}
	return ps
}

// labelledExtras are the problems of one image's extras with its labels. Of an
// image that wasn't read to its end nothing can be missed.
func (c *checker) labelledExtras(i PlatformImage, r *result) ([]Problem, error) {
	if slices.ContainsFunc(r.problems, func(p Problem) bool { return p.ID == IDTarBomb }) {
		return nil, nil
	}
	cf, err := i.Image.ConfigFile()
	if err != nil {
		return nil, c.source.fault(c.source.config(i.Image, err))
	}
	return r.summary.Extras.labelled(cf.Config.Labels), nil
}

// sha256Of is written as labels have it.
func sha256Of(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
