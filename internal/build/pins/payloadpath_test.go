package pins

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/winbake/winbake/payload"
)

// Whatever package payload refuses to pack is refused here too, and nothing
// else: it finds out after everything was compiled.
func TestPayloadPathsAreThoseOfThePayload(t *testing.T) {
	const head = "apiVersion: winbake.dev/v1\nrelease: \"4.20\"\ngo: local\ncomponents:\n"
	sum := strings.Repeat("ab", 32)
	for _, paths := range [][]string{
		{"a.exe"}, {"a b/c d.ps1"}, {"ä/ö.txt"}, {".hidden"}, {"a.wh.b"}, {"console.exe"}, {"com0"}, {"com10"}, {"a.nul"}, {"generated.ps1"}, {"x/generated"}, {"x/sha256sum"},
		{"nul"}, {"NUL.exe"}, {"x/aux.tar.gz"}, {"con/x"}, {"Lpt9.txt"}, {"com1."}, {"prn"},
		{"a."}, {"a./b"}, {"a "}, {"a /b"}, {"a  b"}, {" a"}, {".."}, {"."}, {"../a"}, {"a/../b"}, {"/a"}, {"a/"}, {"a//b"}, {"./a"},
		{".wh.a"}, {"x/.wh..wh..opq"}, {"a:b"}, {"a*"}, {"a?"}, {"a|b"}, {"a<b"}, {"a>b"}, {`a\b`}, {"a\x01"}, {"a\x7f"},
		{"sha256sum"}, {"SHA256SUM"}, {"generated"}, {"Generated/x"}, {"sha256sum/x"},
		{"a", "b"}, {"a", "a"}, {"a", "x/A"}, {"a", "A/b"}, {"d/e/f", "d/e"}, {"d/e/f", "d/g"}, {"a", "ab/c"},
	} {
		var b strings.Builder
		tree := &payload.Tree{Format: payload.Flat}
		for i, p := range paths {
			fmt.Fprintf(&b, "  - {name: x%d, file: f, sha256: %s, payload: %q}\n", i, sum, p)
			tree.Files = append(tree.Files, payload.File{Path: p, SHA256: sum, Open: func() (io.ReadCloser, error) { return nil, io.EOF }})
		}
		_, refused := Parse("v.yaml", []byte(head+b.String()))
		if packed := tree.Check(); (packed == nil) != (refused == nil) {
			t.Errorf("%q: here %v; payload: %v", paths, refused, packed)
		}
	}
}
