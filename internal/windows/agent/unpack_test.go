package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// Two runs that bring the same file: the first has used the upload up, and its
// target is what the second is to write. Any other target isn't.
func TestUnpackWhatAnotherRunHasMade(t *testing.T) {
	for _, c := range []struct {
		content string
		want    bool
	}{{"the file", true}, {"another", false}} {
		dir := t.TempDir()
		sum := sha256.Sum256([]byte("the file"))
		f := fileChange{Path: filepath.Join(dir, "x.exe"), New: hex.EncodeToString(sum[:]), Size: 8}
		if err := os.WriteFile(f.Path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := unpack(t.Context(), dir, f)
		made, readErr := os.ReadFile(f.Path + newSuffix)
		if (err == nil) != c.want || c.want && string(made) != "the file" || !c.want && readErr == nil {
			t.Errorf("target %q: %v, beside it %q", c.content, err, made)
		}
	}
}
