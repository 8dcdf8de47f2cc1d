package images

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

func TestCheckTamperedExtras(t *testing.T) {
	t.Parallel()
	const node, exe = payload.ExtrasRoot + "/" + payload.ExpectationName, payload.ExtrasRoot + "/" + payload.VerifyName
	const texts = payload.ExtrasRoot + "/" + payload.LicensesName
	_, good := withExtras(t, extraFile(payload.ExpectationName, "{}"), extraFile(payload.VerifyName, "MZ2"), extraFile(payload.LicensesName, "MIT"))
	plain, _ := withExtras(t, extraFile(payload.ExpectationName, "{}"))
	for name, c := range map[string]struct {
		img   v1.Image
		layer []item
		want  []string
	}{
		"node.json changed":  {good, []item{{name: node, body: "{ }"}}, []string{verify.IDExtrasDigest + " " + node}},
		"node.json hidden":   {good, []item{{name: "winbake/.wh.node.json"}}, []string{verify.IDExtrasMissing + " " + node}},
		"all of it hidden":   {good, []item{{name: ".wh.winbake"}}, []string{verify.IDExtrasMissing + " " + texts, verify.IDExtrasMissing + " " + node, verify.IDExtrasMissing + " " + exe}},
		"licences changed":   {good, []item{{name: texts, body: "BSD"}}, []string{verify.IDExtrasDigest + " " + texts}},
		"verify.exe swapped": {good, []item{{name: exe, body: "MZ3"}}, []string{verify.IDExtrasDigest + " " + exe}},
		"one more file":      {good, []item{{name: "winbake/run.exe", body: "MZ"}}, []string{verify.IDExtrasUnexpected + " winbake/run.exe"}},
		"one more folder":    {good, []item{{name: "winbake/sub/"}}, []string{verify.IDExtrasUnexpected + " winbake/sub"}},
		"setuid":             {good, []item{{name: exe, body: "MZ2", mode: 0o4755}}, []string{verify.IDTarUnsafe + " " + exe}},
		"added to a plain image": {plain, []item{{name: node, body: "{}"}, {name: exe, body: "MZ"}},
			[]string{verify.IDExtrasUnexpected + " " + node, verify.IDExtrasUnexpected + " " + exe}},
		"made too large":      {good, []item{{name: node, body: string(make([]byte, (64<<20)+1))}}, []string{verify.IDTarBomb + " " + node}},
		"written over itself": {good, []item{{name: node, body: "{}"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			img, err := payload.Append(c.img, layerOf(t, c.layer...), payload.ImageOptions{Labels: labelsOf(t, c.img)})
			if err != nil {
				t.Fatal(err)
			}
			if got := problemsOf(t, openLayout(t, img), verify.Options{}); !slices.Equal(got, c.want) {
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
	tree := &payload.Tree{Format: payload.Flat, Files: []payload.File{extraFile("kubelet.exe", "MZ")}}
	extras := dir + "." + payload.ExtrasRoot
	if err := payload.WriteDir(t.Context(), dir, tree, payload.DirOptions{Extras: []payload.File{extraFile(payload.ExpectationName, "{}")}}); err != nil {
		t.Fatal(err)
	}
	ps, sum, err := verify.Check(t.Context(), open(t, dir), verify.Options{})
	if err != nil || len(ps) > 0 || string(sum.Images[0].Extras.Expectation) != "{}" {
		t.Errorf("%+v, %+v, %v", ps, sum, err)
	}
	if err := os.WriteFile(filepath.Join(extras, "more"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := problemsOf(t, open(t, dir), verify.Options{}); !slices.Equal(got, []string{verify.IDExtrasUnexpected + " " + filepath.Join(extras, "more")}) {
		t.Errorf("%q", got)
	}
}
