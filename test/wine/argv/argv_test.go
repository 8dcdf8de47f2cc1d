// Package argv holds winsvc's reading of command lines against a real
// CommandLineToArgvW, Wine's. It has no code of its own.
package argv

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/windows/winsvc"
	"github.com/winbake/winbake/test/wine/winenode"
)

// lines are command lines of the characters that mean something, short ones
// all of them and longer ones by chance, the same each time.
func lines() []string {
	const alphabet = `a \"` + "\t"
	var all []string
	grow := []string{""}
	for range 5 {
		var next []string
		for _, line := range grow {
			for _, c := range alphabet {
				next = append(next, line+string(c))
			}
		}
		all = append(all, next...)
		grow = next
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var b strings.Builder
		for range 6 + r.IntN(30) {
			b.WriteByte(alphabet[r.IntN(len(alphabet))])
		}
		all = append(all, b.String())
	}
	for i := range all {
		all[i] = `C:\x.exe ` + all[i]
	}
	return append(all, `"C:\a b\x.exe" c`, `"C:\a b\"c d`, `x`, `"x"`, ` x y`, `C:\k\zür.exe "ö ä"`, winsvc.CSIProxy().Command())
}

func TestParseCommandAsWindowsDoes(t *testing.T) {
	t.Parallel()
	n := winenode.Start(t, winenode.Options{})
	n.Put(t, winenode.Program(t, "./test/wine/argv/windows"), `C:\k\argv.exe`)
	var in bytes.Buffer
	all := lines()
	for _, line := range all {
		if err := json.NewEncoder(&in).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(n.C(), "lines"), in.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := n.Wine(t.Context(), `C:\k\argv.exe`, `C:\lines`)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	different := 0
	for _, line := range all {
		var want []string
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got, err := winsvc.ParseCommand(line); err != nil || !slices.Equal(got, want) {
			if different++; different < 10 {
				t.Errorf("%s\n got %q, %v\nWindows %q", line, got, err, want)
			}
		}
	}
	if different > 0 || len(all) < 8000 {
		t.Errorf("%d of %d lines are read otherwise", different, len(all))
	}
}
