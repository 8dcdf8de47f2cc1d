package resolve

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
)

// Two runs that resolve side by side read the lock before either has written it.
func TestWriteKeepsWhatOthersWrote(t *testing.T) {
	file, err := pins.Parse(filepath.Join(t.TempDir(), "versions.yaml"), []byte("apiVersion: winbake.dev/v1\nrelease: \"4.20\"\ngo: local\ncomponents:\n"+
		"  - {name: a, git: https://example.com/x, commit: "+strings.Repeat("ab", 20)+", path: a.toml, payload: a.toml}\n"+
		"  - {name: b, git: https://example.com/x, commit: "+strings.Repeat("ab", 20)+", path: b.toml, payload: b.toml}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		before := &pins.Lock{Components: map[string]*pins.Locked{}}
		if err := Write(file, before, map[string]*Result{name: {Locked: &pins.Locked{Pin: name}}}); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := pins.LoadLock(file)
	if err != nil || lock.Components["a"] == nil || lock.Components["b"] == nil {
		t.Errorf("%v, %v", lock, err)
	}
}
