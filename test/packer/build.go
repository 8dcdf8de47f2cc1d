package packer

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/winbake/winbake/test/support/filelock"
)

// Build returns the path of a tool, which it builds if the user's cache folder
// doesn't have it. Test processes that want the same one wait for one build.
func (t Tool) Build(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	key := sha256.Sum256([]byte(t.Sum + t.linkerFlags() + runtime.GOOS + runtime.GOARCH))
	dir := filepath.Join(cache, "winbake-test", fmt.Sprintf("%s-%s-%x", t.Name, t.Version, key[:4]))
	binary := filepath.Join(dir, t.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := filelock.Wait(ctx, dir+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	source, err := t.download(ctx)
	if err != nil {
		return "", err
	}
	return binary, t.compile(ctx, source, binary)
}

// download fetches the module, with what it was when it was chosen.
func (t Tool) download(ctx context.Context) (dir string, err error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", t.Module+"@"+t.Version)
	cmd.Dir = os.TempDir() // no module's: its replacements would count
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	var answer struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &answer); err != nil || jsonErr != nil {
		return "", fmt.Errorf("go mod download %s@%s: %w: %s", t.Module, t.Version, errors.Join(err, jsonErr), answer.Error)
	}
	if answer.Sum != t.Sum {
		return "", fmt.Errorf("%s@%s has the sum %s, and not %s", t.Module, t.Version, answer.Sum, t.Sum)
	}
	return answer.Dir, nil
}

// compile builds in the module's own folder, whose go.mod has the replacements
// that `go install module@version` refuses. It goes into a file of its own
// first: a build that is cut off leaves nothing that looks whole. Debugging
// information, which the linker leaves out, costs the compiler a twelfth of its
// time, optimising and inlining a quarter: what Packer does here takes little.
func (t Tool) compile(ctx context.Context, source, binary string) error {
	began := time.Now()
	fmt.Fprintf(os.Stderr, "building %s %s for the tests, which takes minutes\n", t.Name, t.Version)
	cmd := exec.CommandContext(ctx, "nice", "-n", "10", "go", "build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false -N -l", "-ldflags="+t.linkerFlags(), "-o", binary+".building", ".")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "GOOS=", "GOARCH=")
	output := &progress{name: t.Name, began: began}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", t.Name, err, output.text.Bytes())
	}
	fmt.Fprintf(os.Stderr, "built %s %s in %s\n", t.Name, t.Version, time.Since(began).Round(time.Second))
	return os.Rename(binary+".building", binary)
}
