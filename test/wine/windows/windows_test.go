// Package windows holds the commands to other systems: they compile there, and
// for Windows they run in Wine. It has no code of its own.
package windows

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/winbake/winbake/test/support/program"
	"github.com/winbake/winbake/test/wine"
)

const top = "../../.."

// product are the packages that are shipped.
var product = []string{"./cmd/...", "./internal/...", "./packer/...", "./payload/..."}

// TestOtherProcessors is why each system is looked at for one processor only: of
// another one, nothing that is ours differs, and each package that is imported has
// files for it. To compile all of them again takes minutes.
func TestOtherProcessors(t *testing.T) {
	for _, system := range []string{"windows", "darwin", "linux"} {
		var first string
		for _, processor := range []string{"amd64", "arm64"} {
			cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{if .Module}}{{if .Module.Main}}{{.ImportPath}} {{.GoFiles}}{{end}}{{end}}`, "./cmd/...")
			cmd.Dir = top
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s/%s: %v\n%s", system, processor, err, out)
			}
			if first == "" {
				first = string(out)
			}
			if string(out) != first || strings.Count(first, ".go") < 100 {
				t.Errorf("%s: amd64 has\n%sand %s\n%s", system, first, processor, out)
			}
		}
	}
}

func TestVetForWindows(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"vet"}, product...)...)
	cmd.Dir = top
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOOS=windows", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What the compiler would refuse, without the minutes that it takes to compile all
// that the commands import.
func TestTypesForMacOS(t *testing.T) {
	all, err := packages.Load(&packages.Config{
		Context: t.Context(), Dir: top, Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Env:  append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOOS=darwin", "GOARCH=arm64"),
	}, product...)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Errorf("only %d packages were looked at", len(all))
	}
	for _, p := range all {
		for _, err := range p.Errors {
			t.Errorf("%s: %v", p.ID, err)
		}
	}
}

// machine has the commands and the examples in its current folder: this one, and
// C:\ of a Wine prefix.
type machine struct {
	dir string
	run func(args ...string) *exec.Cmd
}

// answer is what a command printed, with the slashes of this system, and its exit
// code.
func (m machine) answer(t *testing.T, args []string) (string, int) {
	t.Helper()
	// A file: Wine's server keeps the outputs of the program that started it.
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := m.run(args...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		if _, exit := errors.AsType[*exec.ExitError](err); !exit {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	// A printed command has a path with a backslash in quotes.
	return strings.NewReplacer("\r\n", "\n", `'examples\\cluster-4.19-vsphere'`, "examples/cluster-4.19-vsphere", `\\`, "/", `\`, "/", "File not found.", "no such file or directory").Replace(string(text)), cmd.ProcessState.ExitCode()
}

func machines(t *testing.T) (here, there machine) {
	t.Helper()
	prefix := t.TempDir()
	if err := wine.Make(t.Context(), prefix); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { wine.End(prefix) })
	const today = "SOURCE_DATE_EPOCH=1795132800"
	here = machine{dir: t.TempDir()}
	here.run = func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), filepath.Join(here.dir, args[0]), args[1:]...)
		cmd.Dir, cmd.Env = here.dir, []string{"HOME=" + here.dir, today}
		return cmd
	}
	there = machine{dir: filepath.Join(prefix, "drive_c")}
	there.run = func(args ...string) *exec.Cmd {
		cmd := wine.Command(t.Context(), prefix, append([]string{`C:\` + args[0] + ".exe"}, args[1:]...)...)
		cmd.Env = append(cmd.Env, today)
		return cmd
	}
	for _, m := range []machine{here, there} {
		for _, dir := range []string{"examples", "versions.lock", "payload"} {
			if err := os.CopyFS(filepath.Join(m.dir, dir), os.DirFS(filepath.Join(top, dir))); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(filepath.Join(top, "versions.yaml"))
		if err == nil {
			err = os.WriteFile(filepath.Join(m.dir, "versions.yaml"), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := program.Build(here.dir, []string{"bake", "verify"}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", there.dir+"/", "./cmd/bake", "./cmd/verify")
	cmd.Dir, cmd.Env = top, append(os.Environ(), "CGO_ENABLED=0", "GOOS=windows", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return here, there
}

// TestInWine: both commands say the same as here.
func TestInWine(t *testing.T) {
	here, there := machines(t)
	const cluster = "examples/cluster-4.19-vsphere"
	for _, tt := range []struct {
		args string
		code int
	}{
		{"verify skew --from 4.19 --to 4.20 --manifests " + cluster, 0},
		{`verify skew --from 4.19 --to 4.20 -o json --manifests ` + strings.ReplaceAll(cluster, "/", `\`), 0},
		{"verify skew plan --from 4.19 --to 4.21 --manifests " + cluster, 0},
		{"verify skew --from 4.19 --to 4.20 --details --manifests " + cluster, 0},
		{"verify catalog 4.20", 0},
		{"verify skew --from 4.19 --to 4.20 --manifests none", 1},
		{"bake lock --check", 0},
		{"bake pin containerd-config@0", 1},
		{"bake manifests windows-services", 0},
		{"bake manifests csi-driver vsphere --for 4.20 --out driver", 0},
		{"bake template vsphere-iso --out template", 0}, // once: Wine 8 has no call that Go's os.RemoveAll needs
		{"verify template template", 0},
	} {
		want, code := here.answer(t, strings.Fields(strings.ReplaceAll(tt.args, `\`, "/")))
		got, gotCode := there.answer(t, strings.Fields(tt.args))
		if code != tt.code || gotCode != code || got != want {
			t.Errorf("%s: exit code %d, want %d; in Wine %d\n%s\nin Wine:\n%s", tt.args, code, tt.code, gotCode, want, got)
		}
	}
}
