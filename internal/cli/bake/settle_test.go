package bake

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/console"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// onBase decides what becomes of a base's files under kubelet.exe and another
// one, for 4.20.
func onBase(t *testing.T, o imageOptions, base verify.ImageSummary) (below, string, error) {
	t.Helper()
	var stderr bytes.Buffer
	c := console.New(console.Options{Stderr: &stderr, Progress: "plain", LogFormat: "text"})
	tree := &payload.Tree{Format: payload.Flat, Files: []payload.File{{Path: "kube-node/kubelet.exe"}, {Path: "a.exe"}}}
	p := &packing{tool: &tool{App: &app.App{Console: c}}, file: &pins.File{Release: "4.20"}, tree: tree, base: &baseImage{ref: "registry/op@sha256:1"}}
	p.imageOptions = o
	under, err := p.belowOf(&base)
	c.Close()
	return under, stderr.String(), err
}

func TestSettle(t *testing.T) {
	operator := func(edit func(*verify.ImageSummary)) verify.ImageSummary {
		b := verify.ImageSummary{
			Platform: "linux/amd64", Digest: "sha256:2", Release: "4.20", Format: payload.Flat,
			Files: []verify.File{{Path: "kube-node/kubelet.exe"}, {Path: "powershell/hns.psm1"}, {Path: "own.txt"}},
			Paths: []string{"payload/kube-node/kubelet.exe", "payload/own.txt", "payload/powershell/hns.psm1", "winbake/node.json"},
		}
		if edit != nil {
			edit(&b)
		}
		return b
	}
	accepting := func(ids ...string) imageOptions { return imageOptions{replace: true, accept: ids} }
	for name, c := range map[string]struct {
		options imageOptions
		base    verify.ImageSummary
		kept    int
		removes string
		says    string // in the error, else on stderr
		fails   bool
	}{
		"all is well":         {imageOptions{}, operator(nil), 2, "payload/kube-node/kubelet.exe winbake/node.json", "payload/own.txt: stays, from the base linux/amd64 sha256:2", false},
		"no payload":          {imageOptions{}, verify.ImageSummary{Release: "4.19"}, 0, "", "", false},
		"another release":     {imageOptions{}, operator(func(b *verify.ImageSummary) { b.Release = "4.19" }), 0, "", "operator of OpenShift 4.19, and the pins are for 4.20", true},
		"another format":      {imageOptions{}, operator(func(b *verify.ImageSummary) { b.Format = payload.Archived }), 0, "", "format archived, and this one is to be flat", true},
		"replaced, other one": {accepting(), operator(func(b *verify.ImageSummary) { b.Release = "4.19" }), 0, "", "4.19", true},
		"untold":              {imageOptions{}, operator(func(b *verify.ImageSummary) { b.Release = "" }), 0, "", "--accept payload.base.release", true},
		"another a.exe":       {imageOptions{}, operator(func(b *verify.ImageSummary) { b.Files = append(b.Files, verify.File{Path: "old/A.exe"}) }), 0, "", "keep nothing of the base: --replace-payload", true},
		"untold, and known":   {imageOptions{accept: []string{acceptRelease}}, operator(func(b *verify.ImageSummary) { b.Release = "" }), 2, "payload/kube-node/kubelet.exe winbake/node.json", "taken to be for 4.20", false},
		"untold, all brought": {imageOptions{}, operator(func(b *verify.ImageSummary) { b.Release, b.Files = "", b.Files[:1] }), 0, "payload/kube-node/kubelet.exe payload/own.txt payload/powershell/hns.psm1 winbake/node.json", "", false},
		"a link that stays":   {imageOptions{}, operator(func(b *verify.ImageSummary) { b.Files[2].Link = "payload/kube-node/kubelet.exe" }), 0, "", "/payload/own.txt of the base is a link to /payload/kube-node/kubelet.exe", true},
		"a link that goes":    {imageOptions{}, operator(func(b *verify.ImageSummary) { b.Files[0].Link = "payload/own.txt" }), 2, "payload/kube-node/kubelet.exe winbake/node.json", "", false},
		"a name twice":        {imageOptions{}, operator(func(b *verify.ImageSummary) { b.Files[2].Path = "old/A.EXE" }), 0, "", `"old/A.EXE" of the base: same base name as "a.exe"`, true},
		"what is needed goes": {accepting(), operator(nil), 0, "", "payload/powershell/hns.psm1: without it the operator exits", true},
		"that was known":      {accepting(acceptRemoval + "=payload/powershell/hns.psm1"), operator(nil), 0, "payload/kube-node/kubelet.exe payload/own.txt payload/powershell/hns.psm1 winbake/node.json", "payload/own.txt: goes", false},
		"all of it was known": {accepting(acceptRemoval), operator(nil), 0, "payload/kube-node/kubelet.exe payload/own.txt payload/powershell/hns.psm1 winbake/node.json", "hns.psm1: goes, so the operator exits", false},
		"another was known":   {accepting(acceptRemoval + "=payload/own.txt"), operator(nil), 0, "", "needs 1 file that would go", true},
	} {
		t.Run(name, func(t *testing.T) {
			under, stderr, err := onBase(t, c.options, c.base)
			if c.fails {
				f, ok := errors.AsType[*fault.Error](err)
				if !ok || f.Fix == "" || !strings.Contains(f.Error(), c.says) {
					t.Errorf("error %v, want %q", err, c.says)
				}
				return
			}
			if err != nil || len(under.kept) != c.kept || strings.Join(under.removes, " ") != c.removes || !strings.Contains(stderr, c.says) {
				t.Errorf("%+v, %v\n%s", under, err, stderr)
			}
		})
	}
}

func TestUnsoundBase(t *testing.T) {
	block := func(id string) []verify.Problem {
		return []verify.Problem{{ID: "payload.mode", Severity: verify.SeverityWarn}, {ID: id, Severity: verify.SeverityBlock, Object: "payload/x", Observed: "seen"}}
	}
	for id, both := range map[string]bool{verify.IDSumMismatch: false, verify.IDFormat: false, verify.IDTarUnsafe: true, verify.IDTarBomb: true, verify.IDWhiteoutHides: true} {
		err := sound("op@sha256:1", block(id), false)
		if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(f.What, "payload/x: seen") || !strings.Contains(f.Fix, "verify payload op@sha256:1") {
			t.Errorf("%s: %v", id, err)
		}
		if err := sound("op@sha256:1", block(id), true); (err != nil) != both {
			t.Errorf("%s, and nothing of it stays: %v", id, err)
		}
	}
	if err := sound("op@sha256:1", block("")[:1], false); err != nil {
		t.Errorf("a warning: %v", err)
	}
}
