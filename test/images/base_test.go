package images

import (
	"maps"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
	"github.com/winbake/winbake/test/support/compressed"
)

// baseFiles are those of a base; ours replaces one, and brings one more.
var (
	baseFiles = map[string]string{"cni/host-local.exe": "old", "powershell/hns.psm1": "hns", "wicd.exe": "wicd"}
	ours      = map[string]string{"cni/host-local.exe": "new", "kube-node/kubelet.exe": "kubelet"}
)

func itemsOf(t *testing.T, f payload.Format, files map[string]string) []item {
	t.Helper()
	if f == payload.Flat {
		return flatItems(files)
	}
	return archivedItems(t, files)
}

// onto puts the files onto an image, as bake does.
func onto(t *testing.T, s *oci.Source, f payload.Format, files map[string]string, replace bool) oci.ImageOrIndex {
	t.Helper()
	base, err := verify.ReadBase(t.Context(), s, newMemStore(), nil)
	if err != nil || len(base.Problems) > 0 {
		t.Fatalf("%+v, %v", base, err)
	}
	put := func(img v1.Image) (v1.Image, error) {
		d := must(img.Digest())
		i := slices.IndexFunc(base.Images, func(b verify.ImageSummary) bool { return b.Digest == d.String() })
		tree := treeOfBodies(f, files)
		if !replace {
			tree.Kept = must(base.Images[i].Keeps(tree))
		}
		layer, err := payload.NewLayer(t.Context(), tree, newMemStore(), payload.LayerOptions{Removes: base.Images[i].Removes(tree.Kept)})
		if err != nil {
			return nil, err
		}
		return payload.Append(img, layer, payload.ImageOptions{})
	}
	if s.Index() != nil {
		return must(payload.AppendIndex(s.Index(), payload.ImageOptions{}, put))
	}
	return must(put(must(s.Image())))
}

// seen are the files of an image's payload with their sums, as Check finds them.
func seen(t *testing.T, i verify.ImageSummary) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, f := range i.Files {
		files[f.Path] = f.SHA256
	}
	return files
}

func sumsOf(files ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range files {
		for p, body := range m {
			all[p] = sumOf(body)
		}
	}
	return all
}

// checked finds nothing wrong with an image.
func checked(t *testing.T, x oci.ImageOrIndex) verify.Summary {
	t.Helper()
	ps, sum, err := verify.Check(t.Context(), openWritten(t, x), verify.Options{})
	if err != nil || len(ps) > 0 {
		t.Errorf("%+v, %v", ps, err)
	}
	return sum
}

func openWritten(t *testing.T, x oci.ImageOrIndex) *oci.Source {
	t.Helper()
	dir := t.TempDir()
	writeTestLayout(t, dir, x)
	return open(t, dir)
}

func TestFilesOfABaseStay(t *testing.T) {
	t.Parallel()
	for _, f := range []payload.Format{payload.Flat, payload.Archived} {
		t.Run(string(f), func(t *testing.T) {
			base := openWritten(t, stockImage(t, itemsOf(t, f, baseFiles)))
			img := onto(t, base, f, ours, false)
			if got := checked(t, img).Images[0]; !maps.Equal(seen(t, got), sumsOf(baseFiles, ours)) {
				t.Errorf("files %v", seen(t, got))
			}
			want := map[string]string{}
			for _, p := range []string{"powershell/hns.psm1", "wicd.exe"} {
				want["dev.winbake.kept."+p] = "sha256:" + sumOf(baseFiles[p]) + " " + base.Digest.String()
			}
			labels := labelsOf(t, img.(v1.Image))
			maps.DeleteFunc(labels, func(k, _ string) bool { return !strings.HasPrefix(k, "dev.winbake.kept") })
			if !maps.Equal(labels, want) {
				t.Errorf("labels %v, want %v", labels, want)
			}
			if top := names(t, img.(v1.Image)); slices.ContainsFunc(top, func(n string) bool { return strings.Contains(n, ".wh.") }) {
				t.Errorf("a whiteout, though all is kept or replaced: %q", top)
			}

			// The image is a base itself.
			again := onto(t, openWritten(t, img), f, map[string]string{"wicd.exe": "newer"}, false)
			sum := checked(t, again).Images[0]
			if !maps.Equal(seen(t, sum), sumsOf(baseFiles, ours, map[string]string{"wicd.exe": "newer"})) {
				t.Errorf("files %v", seen(t, sum))
			}
			if d := must(img.Digest()).String(); len(sum.Kept) != 3 || sum.Kept[0].Path != "cni/host-local.exe" || sum.Kept[2].Base != d {
				t.Errorf("kept %+v, want three of %s", sum.Kept, d)
			}
		})
	}
}

// names are the entries of an image's uppermost layer.
func names(t *testing.T, img v1.Image) (all []string) {
	t.Helper()
	layers := must(img.Layers())
	for line := range strings.Lines(listing(t, layers[len(layers)-1].(*payload.Layer))) {
		all = append(all, strings.Fields(line)[4])
	}
	return all
}

func TestFilesOfABaseGo(t *testing.T) {
	t.Parallel()
	for f, want := range map[payload.Format][]string{
		payload.Flat:     {"payload/.wh.wicd.exe", "payload/powershell/.wh.hns.psm1", "winbake/.wh.node.json"},
		payload.Archived: {"payload/.wh.wicd.exe.tar.gz", "payload/powershell/.wh.hns.psm1.tar.gz", "winbake/.wh.node.json"},
	} {
		items := append(itemsOf(t, f, baseFiles), item{name: "winbake/node.json", body: "{}"})
		img := onto(t, openWritten(t, stockImage(t, items)), f, ours, true)
		sum := checked(t, img).Images[0]
		if !maps.Equal(seen(t, sum), sumsOf(ours)) || len(sum.Kept) > 0 || sum.Extras.Expectation != nil {
			t.Errorf("%s: %+v", f, sum)
		}
		got := names(t, img.(v1.Image))
		got = slices.DeleteFunc(got, func(n string) bool { return !strings.Contains(n, ".wh.") })
		if !slices.Equal(got, want) {
			t.Errorf("%s: whiteouts %q, want %q", f, got, want)
		}
	}
}

// Each platform of an index keeps what is in its own image.
func TestFilesOfAnIndexStay(t *testing.T) {
	t.Parallel()
	arm := map[string]string{"cni/host-local.exe": "arm", "arm.ps1": "a"}
	base := indexOf(t, map[string]v1.Image{
		"linux/amd64": stockImage(t, archivedItems(t, baseFiles)), "linux/arm64": stockImage(t, archivedItems(t, arm)),
		"windows/amd64": stockImage(t, flatItems(map[string]string{"x.exe": "x"})),
	})
	sum := checked(t, onto(t, openWritten(t, base), payload.Archived, ours, false))
	want := map[string]map[string]string{"linux/amd64": sumsOf(baseFiles, ours), "linux/arm64": sumsOf(arm, ours)}
	for _, i := range sum.Images {
		if !maps.Equal(seen(t, i), want[i.Platform]) {
			t.Errorf("%s: %v", i.Platform, seen(t, i))
		}
	}
	if len(sum.Images) != 2 || sum.Images[0].Kept[0].Base == sum.Images[1].Kept[0].Base {
		t.Errorf("images %+v", sum.Images)
	}
}

func TestKeptFilesThatClash(t *testing.T) {
	for kept, want := range map[string]string{
		"old/Kubelet.exe":          `"old/Kubelet.exe" of the base: same base name as "kube-node/kubelet.exe"`,
		"kube-node":                `"kube-node/kubelet.exe": below the file "kube-node" of the base`,
		"kube-node/kubelet.exe/a":  `"kube-node/kubelet.exe/a" of the base: below the file "kube-node/kubelet.exe"`,
		"../x":                     `"../x" of the base: not a clean relative path`,
		"KUBE-node/host-local.EXE": `"KUBE-node/host-local.EXE" of the base: same base name as "cni/host-local.exe"`,
	} {
		tree := treeOfBodies(payload.Archived, ours)
		tree.Kept = []payload.KeptFile{{Path: kept, SHA256: sumOf("")}}
		_, err := payload.NewLayer(t.Context(), tree, newMemStore(), payload.LayerOptions{})
		checkText(t, err, []string{want})
		if !strings.HasPrefix(kept, "..") {
			base := &verify.ImageSummary{Files: []verify.File{{Path: kept}}}
			_, err := base.Keeps(&payload.Tree{Files: []payload.File{{Path: "cni/host-local.exe"}, {Path: "kube-node/kubelet.exe"}}})
			checkText(t, err, []string{want, "keep nothing of the base"})
		}
	}
}

func TestCheckKeptFiles(t *testing.T) {
	t.Parallel()
	good := onto(t, openWritten(t, stockImage(t, flatItems(baseFiles))), payload.Flat, ours, false).(v1.Image)
	label := func(value string) map[string]string {
		labels := labelsOf(t, good)
		labels[payload.KeptLabel("")+"wicd.exe"] = value
		return labels
	}
	for name, c := range map[string]struct {
		layer  []item
		labels map[string]string
		want   []string
	}{
		"as it was":      {nil, nil, nil},
		"changed":        {[]item{{name: "payload/wicd.exe", body: "evil"}}, nil, []string{verify.IDKept + " payload/wicd.exe"}},
		"gone":           {[]item{{name: "payload/.wh.wicd.exe"}}, nil, []string{verify.IDKept + " payload/wicd.exe"}},
		"another's":      {[]item{{name: "payload/more.exe"}}, nil, []string{verify.IDFileUnexpected + " payload/more.exe"}},
		"a label of one": {nil, label("sha256:" + sumOf("wicd")), []string{verify.IDFileUnexpected + " payload/wicd.exe", verify.IDKept + " payload/wicd.exe"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.labels == nil {
				c.labels = labelsOf(t, good)
			}
			img := must(payload.Append(good, layerOf(t, c.layer...), payload.ImageOptions{Labels: c.labels}))
			if got := problemsOf(t, openLayout(t, img), verify.Options{Expected: expectedOf(payload.Flat, ours)}); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestReadBase(t *testing.T) {
	t.Parallel()
	labelled := must(mutate.Config(stockImage(t, append(flatItems(baseFiles), item{name: "payload/l.exe", link: "wicd.exe", kind: '2'})),
		v1.Config{Labels: map[string]string{"version": "v10.20.2"}}))
	for name, c := range map[string]struct {
		img   v1.Image
		files int
		wrong string // of Problems
	}{
		"no payload":     {operatorImage(t, false, linuxAMD64), 0, ""},
		"an empty one":   {imageOf(t, layerOf(t, item{name: "payload/"})), 0, ""},
		"sums that lie":  {imageOf(t, layerOf(t, append(archivedItems(t, baseFiles), sumsFile(ours))...)), 3, verify.IDTarUnsafe},
		"mixed formats":  {imageOf(t, layerOf(t, append(flatItems(baseFiles), archive(t, "x.exe", "x"))...)), 4, verify.IDFormat},
		"odd extras":     {stockImage(t, append(flatItems(baseFiles), item{name: "winbake/x"})), 3, ""},
		"labels, a link": {labelled, 4, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, store := openWritten(t, c.img), newMemStore()
			base, err := verify.ReadBase(t.Context(), s, store, nil)
			if err != nil || len(base.Images) != 1 || len(base.Images[0].Files) != c.files || len(base.Problems) == 0 != (c.wrong == "") {
				t.Fatalf("%+v, %v", base, err)
			}
			if c.wrong != "" && base.Problems[0].ID != c.wrong {
				t.Errorf("%+v, want %s", base.Problems, c.wrong)
			}
			// From the store alone.
			again, err := verify.ReadBase(t.Context(), &oci.Source{Digest: s.Digest}, store, nil)
			if err != nil || !slices.EqualFunc(base.Images, again.Images, func(a, b verify.ImageSummary) bool {
				return slices.Equal(a.Files, b.Files) && slices.Equal(a.Paths, b.Paths) && a.Digest == b.Digest && a.Release == b.Release
			}) {
				t.Errorf("%+v, then %+v, %v", base, again, err)
			}
		})
	}
}

func TestReadBaseRemembersNothingFalse(t *testing.T) {
	store := newMemStore()
	img := imageOf(t, layerBytes(t, nil, compressed.Gzip(t, []byte(strings.Repeat("no tar ", 1000))), types.OCILayer))
	if _, err := verify.ReadBase(t.Context(), openWritten(t, img), store, nil); err == nil || len(store.records) != 0 {
		t.Errorf("error %v, %d records", err, len(store.records))
	}
}
