package wine

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// limit is how long a program that is asked for its version may take. The slowest
// of the payload takes half a second; with fifty times as much other work on the
// machine as it has cores, a minute wasn't enough.
const limit = 5 * time.Minute

// Prefix is a prefix that lasts as long as it is used.
type Prefix struct {
	dir string
	// idle is a program that waits: as long as one lives, Wine's services do, and
	// what they print is in their output and not in that of a program.
	idle *exec.Cmd
	runs int // programs run so far: each writes to files of its own
}

// NewPrefix makes a prefix below the system's temporary folder (see [Make]).
func NewPrefix(ctx context.Context) (*Prefix, error) {
	dir, err := os.MkdirTemp("", "winbake-wine-")
	if err != nil {
		return nil, err
	}
	p := &Prefix{dir: dir}
	if err := Make(ctx, dir); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Close ends what lives in the prefix and removes it.
func (p *Prefix) Close() error {
	p.end()
	return os.RemoveAll(p.dir)
}

func (p *Prefix) end() {
	End(p.dir)
	if p.idle != nil {
		_ = p.idle.Wait() // it was ended
	}
	p.idle = nil
}

// start brings Wine's services up, unless they are.
func (p *Prefix) start(ctx context.Context) error {
	if p.idle != nil {
		return nil
	}
	cmd := Command(ctx, p.dir, "cmd", "/k", "echo ready")
	if _, err := cmd.StdinPipe(); err != nil { // it waits for more commands
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.idle = cmd
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return fmt.Errorf("start Wine's services: %w", err)
	}
	return nil
}

// Output is what a program did.
type Output struct {
	Text string // what it wrote to both outputs
	Exit int32  // its exit code, all 32 bits of it
	// Crash is how it crashed, "" for not.
	Crash string
}

// run starts the program in cmd.exe, which sees the whole exit code: Linux lets
// through eight bits. Its output goes where Wine writes nothing, and to a file of
// this run: a process that an earlier program left behind may still hold its own.
const run = "@C:\\program.exe %%* >C:\\out%[1]d.txt 2>&1\r\n@echo %%errorlevel%% >C:\\exit%[1]d.txt\r\n"

// Run runs the executable in file, which is a path of the host, and waits for
// it, five minutes at most. An error means that it couldn't be run: a program that
// fails has an exit code. One that fails without a word is run once more (see still).
func (p *Prefix) Run(ctx context.Context, file string, args ...string) (Output, error) {
	if err := p.bringIn(file); err != nil {
		return Output{}, err
	}
	o, err := p.runOnce(ctx, file, args...)
	if o.Text == "" && (o.Exit != 0 || errors.Is(err, fs.ErrNotExist)) {
		return p.runOnce(ctx, file, args...)
	}
	return o, err
}

func (p *Prefix) runOnce(ctx context.Context, file string, args ...string) (Output, error) {
	p.runs++
	if err := os.WriteFile(p.path("run.cmd"), fmt.Appendf(nil, run, p.runs), 0o644); err != nil {
		return Output{}, err
	}
	if err := p.start(ctx); err != nil {
		return Output{}, err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// A file: a process that outlives the program would keep a pipe open.
	log, err := os.Create(filepath.Join(p.dir, "run.log"))
	if err != nil {
		return Output{}, err
	}
	defer log.Close()
	cmd := Command(limited, p.dir, append([]string{"cmd", "/c", `C:\run.cmd`}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Run()
	if limited.Err() != nil {
		p.end() // the program too, which cmd.exe has left
		return Output{}, cmp.Or(ctx.Err(), fmt.Errorf("%s %s didn't end within %s", filepath.Base(file), strings.Join(args, " "), limit))
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return Output{}, err
	}
	return p.read()
}

func (p *Prefix) path(name string) string { return filepath.Join(p.dir, "drive_c", name) }

func (p *Prefix) read() (Output, error) {
	code, err := os.ReadFile(p.path(fmt.Sprintf("exit%d.txt", p.runs)))
	if err != nil {
		return Output{}, fmt.Errorf("run the program: %w", err)
	}
	exit, err := strconv.ParseInt(strings.TrimSpace(string(code)), 10, 32)
	if err != nil {
		return Output{}, fmt.Errorf("read its exit code: %w", err)
	}
	text, err := os.ReadFile(p.path(fmt.Sprintf("out%d.txt", p.runs)))
	if err != nil {
		return Output{}, err
	}
	log, err := os.ReadFile(filepath.Join(p.dir, "run.log"))
	if err != nil {
		return Output{}, err
	}
	o := Output{Text: string(text), Exit: int32(exit)}
	o.Crash = crash(o, string(log))
	return o, nil
}

// What tells of a crash: Wine, of an exception that nobody handled, and Go's
// runtime.
var (
	unhandled = regexp.MustCompile(`(?m)^wine: (Unhandled .*?)(?: \(thread.*)?$`)
	goCrash   = regexp.MustCompile(`(?m)^(?:panic: |fatal error: |Exception 0x).*`)
)

// crash tells how a program crashed. The exception is its exit code, NTSTATUS
// of Windows with the severity of an error,
// https://learn.microsoft.com/openspecs/windows_protocols/ms-erref/87fba13e-bf06-450e-83b1-9241dc81e781
// but where a thread crashed and Wine let the program go on.
func crash(o Output, log string) string {
	if m := unhandled.FindStringSubmatch(log); m != nil {
		return strings.TrimSpace(m[1])
	}
	if code := uint32(o.Exit); code>>28 == 0xC {
		return fmt.Sprintf("exception 0x%08X", code)
	}
	if o.Exit != 0 {
		return strings.TrimSpace(goCrash.FindString(o.Text))
	}
	return ""
}

// bringIn copies an executable to where the prefix's programs see it.
func (p *Prefix) bringIn(file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	// A new file: the last program may still run from the old one.
	if err := os.Remove(p.path("program.exe")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := os.OpenFile(p.path("program.exe"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
