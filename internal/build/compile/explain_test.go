package compile

import (
	"errors"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
)

// TestFullDisk: each package that go compiles says so again, and none of them is broken.
func TestFullDisk(t *testing.T) {
	job := &Job{File: &pins.File{}, Component: &pins.Component{Name: "a"}}
	const said = "# k8s.io/klog/v2\ncompile: writing output: write $WORK/b101/_pkg_.a: no space left on device\nb: write /c/importcfg: no space left on device\n"
	f, ok := errors.AsType[*fault.Error](explain(job, "it doesn't compile", gotool.NewFailure([]string{"build"}, said, errors.New("exit status 1"))))
	if !ok || f.What != "a disk is full" || f.Excerpt != "compile: writing output: write $WORK/b101/_pkg_.a: no space left on device\n" || f.Fix != "make room, or set --cache-dir and GOCACHE to a larger disk" {
		t.Errorf("have %+v", f)
	}
}
