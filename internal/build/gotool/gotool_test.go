package gotool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A go command on PATH that fails so often, and says so, before it is the real one.
func TestBrokenConnection(t *testing.T) {
	const get = `Get "https://proxy.golang.org/k8s.io/component-base/@v/v0.32.0.zip": `
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	host, err := NewHost(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		said, to string
		times    int
		works    bool
	}{
		"once":         {get + "net/http: TLS handshake timeout", "2", 1, true},
		"in an answer": {`{"Error": "` + strings.ReplaceAll(get, `"`, "'") + `connection reset by peer"}`, "1", 1, true},
		"twice":        {get + "unexpected EOF", "2", 2, false},
		"no network":   {get + "dial tcp: i/o timeout", "2", 1, false},
		"syntax":       {"x.go:1:1: syntax error: unexpected EOF", "2", 1, false},
		"another sum":  {"verifying k8s.io/component-base@v0.32.0: checksum mismatch", "2", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := fmt.Sprintf("#!/bin/sh\necho run >>%[1]s/runs\nif [ $(wc -l <%[1]s/runs) -le %[2]d ]; then printf '%%s\\n' '%[3]s' >&%[4]s; exit 1; fi\nexec %[5]s \"$@\"\n",
				dir, c.times, strings.ReplaceAll(c.said, "'", `'\''`), c.to, goCommand)
			if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			out, err := host.Tool(Local).Output(t.Context(), dir, nil, "env", "GOOS")
			if works := err == nil && len(out) > 0; works != c.works {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}
