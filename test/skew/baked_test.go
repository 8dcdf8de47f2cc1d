package skew

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
)

var bakeCommand = regexp.MustCompile("bake manifests csi-driver [^\\n\"\\\\`]+")

// TestBakeCommandsWork runs each `bake manifests csi-driver` that a remedy or a
// plan prints in any of the cases.
func TestBakeCommandsWork(t *testing.T) {
	cases, err := filepath.Glob("testdata/*/expected.*")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, file := range cases {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range bakeCommand.FindAllString(string(text), -1) {
			told[strings.TrimSpace(command)] = file
		}
	}
	if len(told) < 3 {
		t.Errorf("only %v were found", told)
	}
	for command, file := range told {
		before, out, ok := strings.Cut(command, " --out ")
		if !ok || strings.ContainsAny(out, " /") {
			t.Errorf("%s: %s: --out isn't the last flag", file, command)
			continue
		}
		var stdout, stderr bytes.Buffer
		a := &app.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
		args := strings.Fields(before)[1:]
		args = append(args, "--out", filepath.Join(t.TempDir(), out))
		if code := a.Run(t.Context(), bake.New(a), args); code != 0 {
			t.Errorf("%s: %s: exit %d\n%s", file, command, code, stderr.String())
		}
	}
}
