package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source/gomod"
)

const program = `package main

import "fmt"

var (
	plain          string
	set            = "a" + "b"
	typed   string = base
	number         = 1
	called         = fmt.Sprint("x")
	copied         = plain
	x, y           = "x", "y"
)

const base = "base"

func main() { local := ""; _ = local }
`

func TestCheckStamps(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": program, "linux_linux.go": "package main\n\nvar linux string\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	linked := &gomod.Linked{Main: "example.com/x/cmd/x", Packages: map[string]string{"example.com/x/cmd/x": dir, "example.com/x.y/z": dir}}
	for name, want := range map[string]string{
		"main.plain": "", "main.set": "", "main.typed": "", "main.x": "", "main.y": "", "example.com/x.y/z.plain": "",
		"main.number":         "isn't a constant string",
		"main.called":         "isn't a constant string",
		"main.copied":         "isn't a constant string",
		"main.base":           "no such variable",
		"main.local":          "no such variable",
		"main.linux":          "no such variable for windows",
		"example.com/other.v": "doesn't link package example.com/other",
	} {
		err := checkStamps(&pins.Component{Name: "x", Stamp: map[string]string{name: "v"}}, linked)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
