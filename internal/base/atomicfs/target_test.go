package atomicfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

func TestTarget(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for link, to := range map[string]string{"link": "folder", "twice": "link", "file": "a.tar", "nowhere": "none", "itself": "itself", "out": "/"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{os.Mkdir("folder", 0o755), os.WriteFile("a.tar", nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"folder": dir + "/folder", "new": dir + "/new", "a/b/new": dir + "/a/b/new", "link/": dir + "/folder", "link": dir + "/folder",
		"twice": dir + "/folder", "file": dir + "/a.tar", "out": "/", "/": "/", ".": dir,
		"nowhere": "leads nowhere", "itself": "leads nowhere",
	} {
		got, err := Target(path)
		f, refused := errors.AsType[*fault.Error](err)
		if refused && (!strings.Contains(f.What, want) || f.Where != path || f.Fix == "") || !refused && got != want {
			t.Errorf("%.20s: %s, %v; want %s", path, got, err, want)
		}
	}
}
