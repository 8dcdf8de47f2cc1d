package wine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// limit is how long a program that is asked for its version may take: the
// slowest of the payload takes half a second.
const limit = time.Minute

// Prefix is a prefix that lasts as long as it is used.
type Prefix struct{ dir string }

// NewPrefix makes a prefix below the system's temporary folder (see [Make]).
func NewPrefix(ctx context.Context) (*Prefix, error) {
	dir, err := os.MkdirTemp("", "winbake-wine-")
	if err != nil {
		return nil, err
	}
	p := &Prefix{dir}
	if err := Make(ctx, dir); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Close ends what lives in the prefix and removes it.
func (p *Prefix) Close() error {
	End(p.dir)
	return os.RemoveAll(p.dir)
}

// Output is what a program did.
type Output struct {
	Text string // what it wrote to both outputs
	Exit int    // its exit code, of which Linux lets through eight bits
}

// Run runs the executable in file, which is a path of the host, and waits for
// it, a minute at most. An error means that it couldn't be run: a program that
// fails has an exit code.
func (p *Prefix) Run(ctx context.Context, file string, args ...string) (Output, error) {
	program, err := p.bringIn(file)
	if err != nil {
		return Output{}, err
	}
	// A file: a process that outlives the program would keep a pipe open.
	out, err := os.CreateTemp(p.dir, "out")
	if err != nil {
		return Output{}, err
	}
	defer out.Close()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := Command(limited, p.dir, append([]string{program}, args...)...)
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	text, readErr := os.ReadFile(out.Name())
	o := Output{Text: string(text)}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && limited.Err() == nil {
		o.Exit, err = exit.ExitCode(), nil
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s %s didn't end within %s", filepath.Base(file), strings.Join(args, " "), limit)
	}
	return o, errors.Join(err, readErr)
}

// bringIn copies an executable to where the prefix's programs see it, and
// returns its path there.
func (p *Prefix) bringIn(file string) (string, error) {
	name := strings.TrimSuffix(filepath.Base(file), ".exe") + ".exe"
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.OpenFile(filepath.Join(p.dir, "drive_c", name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return "", err
	}
	return `C:\` + name, out.Close()
}
