package vcenter

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/windows/imagecheck"
	"github.com/winbake/winbake/test/wine/winenode"
)

// callFile is where the node's shutdown.exe writes down its calls, as its
// source has it.
const callFile = `C:\winenode\shutdown.txt`

// Guest is what all machines of a Server have for a guest.
type Guest struct {
	// Address is where the guest can be reached, 127.0.0.1 unless it's changed
	// before a Server is started.
	Address string

	node  *winenode.Node
	calls string
}

// NewGuest makes a node a guest: its shutdown.exe, which BuildShutdown builds,
// tells the Server to end the machine.
func NewGuest(n *winenode.Node, shutdown string) (*Guest, error) {
	// Wine prefers its own to one in its place; cmd.exe looks in the folder first.
	if err := n.Replace(shutdown, n.Home()+`\shutdown.exe`); err != nil {
		return nil, fmt.Errorf("put shutdown.exe onto the node: %w", err)
	}
	// Where scripts would have made it, and files are uploaded to.
	if folder, err := n.Path(`C:\ProgramData\winbake`); err != nil {
		return nil, err
	} else if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	calls, err := n.Path(callFile)
	return &Guest{Address: "127.0.0.1", node: n, calls: calls}, err
}

// Shutdowns are the calls of shutdown.exe so far, with their arguments.
func (g *Guest) Shutdowns() []string {
	data, err := os.ReadFile(g.calls)
	if err != nil {
		return nil // none so far
	}
	var calls []string
	for line := range bytes.Lines(data) {
		calls = append(calls, strings.TrimSpace(string(line)))
	}
	return calls
}

// BuildShutdown builds the double of shutdown.exe into a folder and returns its
// path.
func BuildShutdown(ctx context.Context, dir string) (string, error) {
	return Build(ctx, dir, "shutdown")
}

// Build builds one of the doubles beside this package for the node, into a
// folder, and returns its path.
func Build(ctx context.Context, dir, double string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/winbake/winbake").Output()
	if err != nil {
		return "", fmt.Errorf("find the project's folder: go list: %w", err)
	}
	exe := filepath.Join(dir, double+".exe")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", exe, "./e2e/"+double)
	cmd.Dir = filepath.Join(strings.TrimSpace(string(root)), "packer", "plugin")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOOS=windows", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s.exe: %w\n%s", double, err, out)
	}
	return exe, nil
}

// Untold are the findings of a node's check that are UNKNOWN on a Wine node,
// as docs/windows-truth.md has them: a build there accepts these and no others.
var Untold = []string{"WIN004"}

// Accept is Untold as a Packer variable's value.
func Accept() string { return `["` + strings.Join(Untold, `","`) + `"]` }

// AcceptImage is Accept with all that the image's check finds, for builds of our
// templates: a Wine node is no image.
func AcceptImage() string {
	ids := slices.Clone(Untold)
	for _, r := range imagecheck.Table {
		ids = append(ids, r.ID)
	}
	return `["` + strings.Join(ids, `","`) + `"]`
}

// Scripts are the answers of a node's PowerShell double to a build's scripts: each
// that PowerShell can parse succeeds, and the machine says that it has come back
// from a restart.
var Scripts = []winenode.Answer{
	{Contains: []string{"-EncodedCommand"}, Stdout: "node restarted.\r\n"},
	{},
}
