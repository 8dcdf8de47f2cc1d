package nodeset_test

import (
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/manifests/nodeset"
	"github.com/winbake/winbake/test/support/golden"
)

var update = flag.Bool("update", false, "rewrite golden files")

const image = "registry.example.com/winbake-node@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

// The whole folder once; of the other modes what differs, the DaemonSet.
func TestGolden(t *testing.T) {
	for name, o := range map[string]nodeset.Options{
		"install":    {Image: image, Only: []string{"csi-proxy", "kubelet"}, Every: 15 * time.Minute},
		"check-only": {Image: image, Mode: nodeset.CheckOnly, Every: time.Hour},
		"remove":     {Image: image, Mode: nodeset.Remove, Namespace: "windows", Every: 15 * time.Minute},
	} {
		files, err := nodeset.Render(o)
		if err != nil {
			t.Fatal(err)
		}
		if o.Mode != "" {
			files = files[2:]
		}
		golden.Compare(t, filepath.Join("testdata", name+".yaml"), golden.Objects(files), *update)
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*nodeset.Options)
		want   string
	}{
		"no image":      {func(o *nodeset.Options) { o.Image = "" }, "no image to run"},
		"a tag":         {func(o *nodeset.Options) { o.Image = "quay.io/me/node:v1" }, "named by a tag"},
		"credentials":   {func(o *nodeset.Options) { o.Image = "user:secret@quay.io/me/node:v1" }, "holds credentials"},
		"cluster's own": {func(o *nodeset.Options) { o.Namespace = "kube-system" }, "the cluster's own"},
		"all the time":  {func(o *nodeset.Options) { o.Every = time.Second }, "again and again"},
	} {
		o := nodeset.Options{Image: image, Every: 15 * time.Minute}
		c.change(&o)
		_, err := nodeset.Render(o)
		if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(f.What, c.want) || f.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
