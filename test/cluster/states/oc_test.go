package states

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
	"github.com/winbake/winbake/internal/cli/verify"
	"github.com/winbake/winbake/test/cluster/apiserver"
)

// TestMain is bake and verify too, by the name that it is called by.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "bake":
		os.Exit(app.Main(bake.New))
	case "verify":
		os.Exit(app.Main(verify.New))
	case "oc":
		os.Exit(readsOnly(os.Args[1:]))
	case "skopeo":
		os.Exit(0) // images are copied and there
	}
	// What every run of verify goes by. Tests run side by side: not with t.Setenv.
	for name, value := range map[string]string{"SOURCE_DATE_EPOCH": today, "NO_COLOR": "1"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// answerOfPlay is what the played cluster says to a call of oc.
type answerOfPlay struct {
	// Kubectl: oc does the same as kubectl here, which is run.
	Kubectl bool
	// More are words that it gets besides.
	More []string
	Out  string
	Exit int
}

// tools is a folder with bake, verify and oc.
func tools(t *testing.T) (dir, kubectl string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if kubectl, err = apiserver.Kubectl(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "oc"), []byte(ocScript), 0o755); err != nil {
		t.Fatal(err)
	}
	// A person at the script names a release where it asks; here "next" is asked for.
	if err := os.WriteFile(filepath.Join(dir, "verify"), []byte("#!/bin/bash\nargs=(\"$@\")\nfor i in \"${!args[@]}\"; do [ \"${args[i]}\" = --to="+nextOffered+" ] && args[i]=--to=$(oc "+nextOffered+")\ndone\nexec -a verify "+self+" \"${args[@]}\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bake", "skopeo"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, kubectl
}

// shell runs a script as an admin does, in a folder.
func (s *server) shell(t *testing.T, dir, path, kubectl, script string, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", append([]string{"-c", script, "plan"}, args...)...)
	cmd.Stdin = strings.NewReader(strings.Repeat("y\n", 200)) // a person who agrees
	cmd.WaitDelay = time.Second                               // a child of the script may hold its output
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+path+":"+os.Getenv("PATH"), "HOME="+dir, "KUBECONFIG="+s.kubeconfig, "KUBECTL="+kubectl, "PLAY="+s.plays, "KUBECACHEDIR="+filepath.Join(path, "cache"),
		"NO_COLOR=1", "SOURCE_DATE_EPOCH="+today, "POLL=0.1")
	if d := s.state.brings; d != nil {
		cmd.Env = append(cmd.Env, "OPERATORS="+d.name)
	}
	if !slices.Contains(args, "--yes") {
		cmd.Env = append(cmd.Env, "TO="+nextOffered)
	}
	out := &patient{stop: cancel}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.text.String(), cmd.ProcessState.ExitCode()
}

// vain is what a script prints when it has to look again.
const vain = "\n  not yet; "

// patient takes what a script prints, and stops it when it looks in vain: what is
// played is there at once.
type patient struct {
	text bytes.Buffer
	stop func()
}

func (p *patient) Write(b []byte) (int, error) {
	if bytes.Count(p.text.Bytes(), []byte(vain)) > 30 {
		p.stop()
	}
	return p.text.Write(b)
}

// has tells whether the words of a call begin with these, flags aside.
func has(args []string, words ...string) bool {
	var plain []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-n":
			i++
		case strings.HasPrefix(args[i], "-"):
		default:
			plain = append(plain, args[i])
		}
	}
	return len(plain) >= len(words) && strings.Join(plain[:len(words)], " ") == strings.Join(words, " ")
}
