package winenode

import (
	"os"
	"os/exec"
	"testing"
)

// The programs that run inside Wine are for Windows alone, so that `go vet ./...`
// passes them by.
func TestProgramsForWindowsAreVetted(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "vet", "./csiclient", "./denied", "./guest", "./marked", "./powershell")
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
