package winenode

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/winbake/winbake/test/support/filelock"
	"github.com/winbake/winbake/test/support/program"
	"github.com/winbake/winbake/test/wine"
)

// sources are the programs that run inside Wine. They are part of what a
// prefix is made of, so they are part of its name.
//
//go:embed guest/*.go powershell/*.go denied/*.go answer/*.go script/*.go
var sources embed.FS

// registry makes the prefix say that it is Windows Server 2022. On a real one
// CurrentVersion is 6.3 for good; Wine takes the version from it. A service may take
// five minutes to report (ServicesPipeTimeout, in milliseconds): of Wine's ten seconds
// csi-proxy needs more where fifty times as much runs as the machine has cores.
const registry = `Windows Registry Editor Version 5.00

[HKEY_LOCAL_MACHINE\Software\Microsoft\Windows NT\CurrentVersion]
"ProductName"="Windows Server 2022 Datacenter"
"InstallationType"="Server Core"
"CurrentMajorVersionNumber"=dword:0000000a
"CurrentMinorVersionNumber"=dword:00000000
"CurrentBuild"="20348"
"CurrentBuildNumber"="20348"
"CurrentVersion"="10.0"

[HKEY_LOCAL_MACHINE\System\CurrentControlSet\Control\ProductOptions]
"ProductType"="ServerNT"

[HKEY_LOCAL_MACHINE\System\CurrentControlSet\Control]
"ServicesPipeTimeout"="300000"
`

// cacheDir is where prefixes are kept and nodes live: on one file system, so
// that the system's own files need no copy.
func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "winbake-test")
	return dir, os.MkdirAll(dir, 0o755)
}

// useTemplate calls with a finished prefix that nothing runs in, made once for
// each version of what goes into it. It stays as long as the call.
func useTemplate(ctx context.Context, use func(prefix string) error) error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	key, err := templateKey(ctx)
	if err != nil {
		return err
	}
	dir := filepath.Join(cache, "wine-"+key)
	unlock, err := filelock.Wait(ctx, dir+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if !isDir(dir) {
		if err := newTemplate(ctx, dir); err != nil {
			return fmt.Errorf("make a Wine prefix: %w", err)
		}
		if err := dropTemplates(cache, dir); err != nil {
			return err
		}
	}
	return use(dir)
}

// newTemplate makes it beside its place first: what is cut off leaves nothing
// that looks whole.
func newTemplate(ctx context.Context, dir string) error {
	building := dir + ".building"
	if err := os.RemoveAll(building); err != nil {
		return err
	}
	if err := makeTemplate(ctx, building); err != nil {
		return err
	}
	return os.Rename(building, dir)
}

// dropTemplates removes the templates of other versions that nobody is using:
// each has 700 MB. Nodes that were made from one keep their files.
func dropTemplates(cache, but string) error {
	others, err := filepath.Glob(filepath.Join(cache, "wine-????????????????"))
	if err != nil {
		return err
	}
	for _, dir := range others {
		if dir == but {
			continue
		}
		unlock, err := filelock.Try(dir + ".lock")
		if err != nil {
			return err
		}
		if unlock == nil {
			continue
		}
		err = errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+".building"))
		unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

func templateKey(ctx context.Context) (string, error) {
	version, err := exec.CommandContext(ctx, "wine", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask wine for its version (test/deps.sh installs it): %w", err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n%s\n%d\n", version, runtime.Version(), registry, os.Getuid())
	sum.Write(wine.Shim())
	if err := hashTree(sum, sources); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:16], nil
}

func hashTree(sum io.Writer, files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
		return err
	})
}

func makeTemplate(ctx context.Context, prefix string) error {
	if err := wine.Make(ctx, prefix); err != nil {
		return err
	}
	file := filepath.Join(prefix, "drive_c", "server.reg")
	if err := os.WriteFile(file, []byte(registry), 0o644); err != nil {
		return err
	}
	err := wineCommand(ctx, prefix, "regedit", "/S", `C:\server.reg`).Run()
	if err == nil {
		err = wine.Settle(ctx, prefix)
	}
	if err != nil {
		wine.End(prefix)
		return fmt.Errorf("write the registry: %w", err)
	}
	return addPrograms(ctx, prefix)
}

// addPrograms puts in what of this package runs inside Wine.
func addPrograms(ctx context.Context, prefix string) error {
	system := filepath.Join(prefix, "drive_c", "windows", "system32")
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	own := filepath.Join(prefix, "drive_c", "winenode")
	for program, file := range map[string]string{
		"guest": filepath.Join(own, "guest.exe"), "denied": filepath.Join(own, "denied.exe"),
		"powershell": filepath.Join(system, "WindowsPowerShell", "v1.0", "powershell.exe"),
	} {
		// Not over the old file: it may be a link to one of Wine's.
		if err := os.RemoveAll(file); err != nil {
			return err
		}
		if err := crossCompile(ctx, root, "./test/wine/winenode/"+program, file); err != nil {
			return err
		}
	}
	return nil
}

// moduleRoot is the folder of the project's main module, whatever package's
// tests run: those of its other modules see it by a replacement.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/winbake/winbake").Output()
	if err != nil {
		return "", fmt.Errorf("find the project's folder: go list: %w", err)
	}
	root := strings.TrimSpace(string(out))
	return root, program.Depend(root)
}

// crossCompile builds a program of the project for the node.
func crossCompile(ctx context.Context, root, pkg, file string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", file, pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s for Windows: %w\n%s", pkg, err, out)
	}
	return nil
}
