//go:build e2e

package images

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/payload"
)

// Operators and people unpack with other tools than Go's.
func TestStandardToolsReadTheLayer(t *testing.T) {
	t.Parallel()
	for _, codec := range codecs() {
		tree, _ := treeOf(payload.Archived, sampleFiles())
		l := newTestLayer(t, tree, newMemStore(), payload.LayerOptions{Codec: codec})
		dir := t.TempDir()
		blob := filepath.Join(dir, "layer")
		rc, err := l.Compressed()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(rc)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(blob, b, 0o600); err != nil {
			t.Fatal(err)
		}
		script := `set -e
TOOL -dc < layer | tar --no-same-owner -xf -
cd payload
find . -name '*.gz' | while read f; do gzip -t "$f"; tar -C "$(dirname "$f")" -xzf "$f"; done
sha256sum --quiet --strict -c sha256sum
stat -c '%a %n' . generated cni/host-local.exe`
		cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(script, "TOOL", codec.Name))
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if want := "755 .\n777 generated\n644 cni/host-local.exe\n"; err != nil || !strings.HasSuffix(string(out), want) {
			t.Errorf("%s: %v\n%s", codec.ID(), err, out)
		}
		if !bytes.Contains(b[:4], []byte{0x1f, 0x8b}) && codec.Name == payload.Gzip {
			t.Errorf("%s: not a gzip header: % x", codec.ID(), b[:10])
		}
	}
}
