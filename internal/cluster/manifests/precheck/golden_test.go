package precheck_test

import (
	"errors"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/manifests/precheck"
	"github.com/winbake/winbake/test/support/golden"
)

var update = flag.Bool("update", false, "rewrite golden files")

const image = "registry.example.com/winbake-verify@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func TestGolden(t *testing.T) {
	for name, o := range map[string]precheck.Options{
		"plain": {Image: image, To: []string{"4.20"}},
		"all": {Image: image, Namespace: "windows-updates", To: []string{"4.20", "4.21.3"},
			Accept: []string{"SKEW001=DaemonSet ns/name"}, Images: []string{"sha256:abc=v3.3.1"}},
	} {
		folder, err := precheck.Render(o)
		if err != nil {
			t.Fatal(err)
		}
		if len(folder.Notes) > 0 {
			t.Errorf("%s: %q", name, folder.Notes)
		}
		var names []string
		for _, f := range folder.Files {
			names = append(names, f.Name)
		}
		if !slices.IsSorted(names) {
			t.Errorf("%s: applied in the order of names they aren't in order: %q", name, names)
		}
		golden.Compare(t, filepath.Join("testdata", name+".yaml"), golden.Objects(folder.Files), *update)
	}
}

func TestTagIsTold(t *testing.T) {
	folder, err := precheck.Render(precheck.Options{Image: "quay.io/me/winbake-verify:v1", To: []string{"4.20"}})
	if err != nil || len(folder.Notes) != 1 || !strings.Contains(folder.Notes[0], "digest") {
		t.Errorf("%v, %+v", err, folder)
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*precheck.Options)
		want   string
	}{
		"no image":          {func(o *precheck.Options) { o.Image = "" }, "no image to run"},
		"no such image":     {func(o *precheck.Options) { o.Image = "Quay.io/Me/Verify:" }, "can't be an image"},
		"credentials":       {func(o *precheck.Options) { o.Image = "user:secret@quay.io/me/verify:v1" }, "***@quay.io/me/verify:v1 holds credentials"},
		"no namespace":      {func(o *precheck.Options) { o.Namespace = "Windows" }, "can't be a namespace"},
		"cluster's own":     {func(o *precheck.Options) { o.Namespace = "openshift-monitoring" }, "the cluster's own"},
		"nothing to judge":  {func(o *precheck.Options) { o.To = nil }, "no release to judge"},
		"no release":        {func(o *precheck.Options) { o.To = []string{"next"} }, "next"},
		"a file in the pod": {func(o *precheck.Options) { o.Images = []string{"images.txt"} }, "there is no file in the pod"},
	} {
		o := precheck.Options{Image: image, To: []string{"4.20"}}
		c.change(&o)
		_, err := precheck.Render(o)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || !strings.Contains(f.What, c.want) || f.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
