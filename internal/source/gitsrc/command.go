package gitsrc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/proc"
)

// settings that keep a person's git configuration from changing file
// contents, running hooks or commands that stand in a URL, or asking questions.
var settings = []string{
	"-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.symlinks=true", "-c", "core.fileMode=true",
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.excludesFile=/dev/null", "-c", "core.attributesFile=/dev/null",
	"-c", "safe.directory=*", "-c", "protocol.ext.allow=never", "-c", "protocol.fd.allow=never",
}

func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := proc.Command(ctx, "git", append(append([]string{}, settings...), args...)...)
	cmd.Dir = dir
	cmd.Env = append(environment(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "TZ=UTC")
	return cmd
}

// environment is the person's without what points git at another repository.
func environment() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX":
		default:
			env = append(env, kv)
		}
	}
	return env
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := command(ctx, dir, args...).Output()
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return "", failed(args[0], err)
}

func failed(verb string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return &fault.Error{What: "no git command on PATH", Fix: "install git", Err: err}
	}
	return &failure{verb: verb, err: err}
}

type failure struct {
	verb string
	err  error
}

func (f *failure) Error() string { return "git " + f.verb + ": " + message(f.err) }
func (f *failure) Unwrap() error { return f.err }

func message(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		// It names the URL that the user's insteadOf made, which is where many
		// keep a token.
		return printable.NoCredentials(strings.TrimSpace(string(exit.Stderr)))
	}
	return err.Error()
}
