package payload

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestCheckTamperedExtras(t *testing.T) {
	t.Parallel()
	const node, exe = ExtrasRoot + "/" + ExpectationName, ExtrasRoot + "/" + VerifyName
	_, good := withExtras(t, extraFile(ExpectationName, "{}"), extraFile(VerifyName, "MZ2"))
	plain, _ := withExtras(t, extraFile(ExpectationName, "{}"))
	for name, c := range map[string]struct {
		img   v1.Image
		layer []item
		want  []string
	}{
		"node.json changed":  {good, []item{{name: node, body: "{ }"}}, []string{IDExtrasDigest + " " + node}},
		"node.json hidden":   {good, []item{{name: "winbake/.wh.node.json"}}, []string{IDExtrasMissing + " " + node}},
		"all of it hidden":   {good, []item{{name: ".wh.winbake"}}, []string{IDExtrasMissing + " " + node, IDExtrasMissing + " " + exe}},
		"verify.exe swapped": {good, []item{{name: exe, body: "MZ3"}}, []string{IDExtrasDigest + " " + exe}},
		"one more file":      {good, []item{{name: "winbake/run.exe", body: "MZ"}}, []string{IDExtrasUnexpected + " winbake/run.exe"}},
		"one more folder":    {good, []item{{name: "winbake/sub/"}}, []string{IDExtrasUnexpected + " winbake/sub"}},
		"setuid":             {good, []item{{name: exe, body: "MZ2", mode: 0o4755}}, []string{IDTarUnsafe + " " + exe}},
		"added to a plain image": {plain, []item{{name: node, body: "{}"}, {name: exe, body: "MZ"}},
			[]string{IDExtrasUnexpected + " " + node, IDExtrasUnexpected + " " + exe}},
		"changed twice over":  {good, []item{{name: node, body: string(make([]byte, maxExpectation+1))}}, []string{IDTarBomb + " " + node}},
		"written over itself": {good, []item{{name: node, body: "{}"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			img, err := Append(c.img, layerOf(t, c.layer...), ImageOptions{Labels: labelsOf(t, c.img)})
			if err != nil {
				t.Fatal(err)
			}
			if got := problemsOf(t, openLayout(t, img), CheckOptions{}); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// labelsOf are an image's labels: a layer that somebody adds with another tool
// leaves them alone.
func labelsOf(t *testing.T, img v1.Image) map[string]string {
	t.Helper()
	cf, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return cf.Config.Labels
}

func TestCheckExtrasDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	tree := &Tree{Format: Flat, Files: []File{extraFile("kubelet.exe", "MZ")}}
	extras := dir + "." + ExtrasRoot
	if err := WriteDir(t.Context(), dir, tree, DirOptions{Extras: []File{extraFile(ExpectationName, "{}")}}); err != nil {
		t.Fatal(err)
	}
	ps, sum, err := Check(t.Context(), open(t, dir), CheckOptions{})
	if err != nil || len(ps) > 0 || string(sum.Images[0].Extras.Expectation) != "{}" {
		t.Errorf("%+v, %+v, %v", ps, sum, err)
	}
	if err := os.WriteFile(filepath.Join(extras, "more"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := problemsOf(t, open(t, dir), CheckOptions{}); !slices.Equal(got, []string{IDExtrasUnexpected + " " + filepath.Join(extras, "more")}) {
		t.Errorf("%q", got)
	}
}

// What the images of an index hold is kept until the report is made.
func TestExtrasOfAnIndexAreKeptOnce(t *testing.T) {
	c := &checker{kept: map[[32]byte][]byte{}}
	first, again := &Extras{Verify: []byte("MZ1")}, &Extras{Verify: []byte("MZ1"), Expectation: []byte("{}")}
	for _, x := range []*Extras{first, again, again} {
		if err := c.share("winbake/verify.exe", x); err != nil {
			t.Fatal(err)
		}
	}
	if &first.Verify[0] != &again.Verify[0] || c.keptBytes != 5 {
		t.Errorf("%d bytes are kept, want 5", c.keptBytes)
	}
	c.keptBytes = maxKept - 2
	err := c.share("winbake/verify.exe", &Extras{Verify: []byte("MZ3")})
	if l, ok := errors.AsType[*LimitError](err); !ok || l.Object != "winbake/verify.exe" {
		t.Errorf("error %v, want a LimitError", err)
	}
}
