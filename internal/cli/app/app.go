// Package app is what the commands share: global flags, the console, signals
// and exit codes. What a command does is its own package's.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/base/console"
	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
)

// App is one run of a command.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Console is there once flags are parsed.
	Console *console.Console
	// CatalogDate is the day of the catalog in use; nil for none.
	CatalogDate func(*App) (string, error)

	progress, logLevel, logFormat, color string
	quiet                                bool

	said sync.Map // what Retrying has told
}

// exitInterrupted is what a shell reports of a program ended by SIGINT.
const exitInterrupted = 130

// Main runs the command that build makes, with the process's own arguments,
// and returns its exit code.
func Main(build func(*App) *cobra.Command) int {
	ctx, stop := signals(context.Background())
	defer stop()
	log.SetOutput(io.Discard) // net/http writes there what a registry sends unasked
	a := &App{Stdin: os.Stdin, Stderr: os.Stderr}
	a.Stdout = &result{app: a, w: os.Stdout}
	root := build(a)
	if name := calledAs(root.Name(), os.Args[0]); name != root.Name() {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	}
	return a.Run(ctx, root, os.Args[1:])
}

// calledAs is what the user typed for the program: "kubectl winbake" where it is
// on PATH as kubectl-winbake. oc runs plugins of kubectl's as its own.
// https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/
func calledAs(name, program string) string {
	program = strings.TrimSuffix(filepath.Base(program), ".exe")
	for _, of := range []string{"kubectl", "oc"} {
		if plugin, ok := strings.CutPrefix(program, of+"-"); ok {
			return of + " " + strings.ReplaceAll(plugin, "_", "-")
		}
	}
	return name
}

// Run executes root with args and returns the exit code.
func (a *App) Run(ctx context.Context, root *cobra.Command, args []string) int {
	a.prepare(root)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if a.Console == nil { // flags weren't even parsed
		format := "text"
		if strings.Contains(strings.Join(args, "="), "--log-format=json") || os.Getenv(envPrefix+"LOG_FORMAT") == "json" {
			format = "json"
		}
		a.Console = console.New(console.Options{Stderr: a.Stderr, Progress: "plain", LogFormat: format})
	}
	defer a.Console.Close()
	if r, ok := a.Stdout.(*result); ok {
		err = cmp.Or(r.lost(), err)
	}
	return a.exit(ctx, err)
}

func (a *App) exit(ctx context.Context, err error) int {
	if err == nil {
		return finding.ExitOK
	}
	if code, ok := errors.AsType[ExitCode](err); ok {
		return int(code)
	}
	if errors.Is(context.Cause(ctx), errInterrupted) {
		err = &fault.Error{What: "interrupted; what was finished is kept, nothing is half-written", Code: exitInterrupted}
	}
	a.Console.Fail(err)
	return fault.ExitCode(err)
}

// ExitCode ends a command with a code whose reason was already reported: the
// findings of a check.
type ExitCode int

// Error makes an ExitCode an error; nobody sees its text.
func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

func (a *App) prepare(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.Version = Version()
	root.SetVersionTemplate("{{.DisplayName}} {{.Version}}\n")
	// Cobra would give it -v, which is --verbose elsewhere.
	root.Flags().Bool("version", false, "print the version")
	f := root.PersistentFlags()
	f.SortFlags = false
	var own []string
	f.VisitAll(func(f *pflag.Flag) { own = append(own, f.Name) })
	f.StringVar(&a.progress, "progress", "auto", "how progress is shown: auto, plain or tty")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print warnings and errors only")
	f.StringVar(&a.logLevel, "log-level", "info", "least level to print: debug, info, warn or error")
	f.StringVar(&a.logFormat, "log-format", "text", "text or json")
	f.StringVar(&a.color, "color", "auto", "colours: auto (on terminals, unless NO_COLOR is set), always or never")
	Choices(root, "color", "auto", "always", "never")
	Choices(root, "progress", "auto", "plain", "tty")
	Choices(root, "log-level", "debug", "info", "warn", "error")
	Choices(root, "log-format", "text", "json")
	root.SetFlagErrorFunc(flagError)
	Rare(f, everywhere, own...)
	root.SetUsageFunc(usage)
	wrap(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := fromEnv(cmd); err != nil {
			return err
		}
		a.Console = console.New(console.Options{
			Stderr: a.Stderr, Progress: a.progress, LogLevel: a.logLevel, LogFormat: a.logFormat, Color: a.color, Quiet: a.quiet,
		})
		return checkValues(cmd)
	}
	root.AddCommand(newVersion(a, root.Name()), newOptions(root))
	More(root, "version")
	addManPages(root)
	checkArgs(root)
}

// checkArgs has each command take no arguments unless it says otherwise, and errors
// name the help. It makes it an error to call a group of commands without one of
// them, or with a word that names none: cobra would show the help and end well.
func checkArgs(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		checkArgs(sub)
	}
	if !cmd.Runnable() {
		annotate(cmd, group)
		cmd.Args = cobra.ArbitraryArgs                                 // else cobra words the error for the root
		cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error { // of the command that was meant
			if words := c.Flags().Args(); c == cmd && len(words) > 0 {
				return unknownCommand(cmd, words[0])
			}
			return flagError(c, err)
		})
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return &fault.Error{What: cmd.CommandPath() + " needs one of its commands", Excerpt: cmd.UsageString()}
		}
		return
	}
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if use := insteadOf(cmd, args); err != nil && use != "" {
			return &fault.Error{What: fmt.Sprintf("there is no %s %s any more", cmd.CommandPath(), args[0]), Fix: use, Err: err}
		}
		if _, told := errors.AsType[*fault.Error](err); err == nil || told {
			return err
		}
		what := err.Error()
		switch names := strings.Fields(cmd.Use)[1:]; {
		case len(args) < len(names):
			what = cmd.CommandPath() + " needs " + strings.Join(names[len(args):], " ")
		case len(args) > len(names):
			what = fmt.Sprintf("%s takes no argument %q", cmd.CommandPath(), args[len(names)])
		}
		return &fault.Error{What: what, Excerpt: "usage: " + cmd.UseLine(), Fix: cmd.CommandPath() + " --help", Err: err}
	}
}

func unknownCommand(group *cobra.Command, word string) error {
	fix := group.CommandPath() + " --help"
	group.SuggestionsMinimumDistance = 2
	if near := group.SuggestionsFor(word); len(near) > 0 {
		fix = group.CommandPath() + " " + near[0]
	}
	fix = cmp.Or(instead(group, word), fix)
	return &fault.Error{What: fmt.Sprintf("unknown command %q for %q", word, group.CommandPath()), Fix: fix}
}

// renamed are flags that had another name before the first release.
var renamed = map[string]string{"data": "catalog", "insecure": "plain-http", "revision": "label", "source": "label", "verify-exe": "with-verify"}

func flagError(cmd *cobra.Command, err error) error {
	fix := cmd.CommandPath() + " --help"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		near := renamed[unknown.GetSpecifiedName()]
		if !slices.Contains(names, near) {
			near = fault.Nearest(unknown.GetSpecifiedName(), names)
		}
		if near != "" && unknown.GetSpecifiedShortnames() == "" { // all are alike a letter
			fix = cmd.CommandPath() + " --" + near
		}
		word := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			word = word[1:]
		}
		fix = cmp.Or(insteadOf(cmd, cmd.Flags().Args()), instead(cmd, word), of(foreign, cmd, word), fix)
	}
	return &fault.Error{What: err.Error(), Fix: fix, Err: err}
}

// result is stdout. What a command does is over when it writes its result, so
// the live lines leave the terminal first.
type result struct {
	app *App
	w   io.Writer
	err error // the first
}

func (r *result) Write(p []byte) (int, error) {
	if r.app.Console != nil {
		r.app.Console.Close()
	}
	n, err := r.w.Write(p)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// lost ends stdout. It is an error where not all was taken: a script would look
// for the digest in vain, so this counts more than what else went wrong.
func (r *result) lost() error {
	if c, ok := r.w.(io.Closer); ok && r.err == nil {
		r.err = c.Close()
	}
	if r.err == nil {
		return nil
	}
	why := r.err
	if cause, ok := errors.AsType[*os.PathError](why); ok {
		why = cause.Err
	}
	return &fault.Error{What: "stdout doesn't take the result: " + why.Error(), Fix: "run the command again, and write to where there is room", Err: r.err}
}

// IsTerminal reports whether w is a terminal that a person looks at.
func IsTerminal(w io.Writer) bool { return console.IsTerminal(behind(w)) }

// Color reports whether the result may have colours, as --color says.
func (a *App) Color() bool { return console.WantsColor(a.color, behind(a.Stdout)) }

// Width is the number of columns of the terminal w, at most 100, which is as
// long as a line of prose should be; 100 where w is none.
func Width(w io.Writer) int {
	const most = 100
	if !IsTerminal(w) {
		return most
	}
	columns, _ := console.Size(behind(w))
	return min(columns, most)
}

// behind is what a command's stdout writes to.
func behind(w io.Writer) io.Writer {
	if r, ok := w.(*result); ok {
		return r.w
	}
	return w
}

// Tell shows one step of work.
func (a *App) Tell(object string, phase event.Phase, state event.State, message string) {
	a.Console.Emit(event.Event{Object: object, Phase: phase, State: state, Message: message})
}

// Retrying tells of a failure that is tried again, once: parts of an image that are
// uploaded side by side fail alike, and several times.
func (a *App) Retrying(err error) {
	object, message := "", err.Error()
	if f, ok := errors.AsType[*fault.Error](err); ok {
		object, message = f.Where, f.What
	}
	if _, before := a.said.LoadOrStore(object+message, true); before {
		return
	}
	a.Tell(object, event.Read, event.Warning, message+"; trying again")
}

func newVersion(a *App, name string) *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Print version, commit, Go and the catalog's date", Example: "  " + name + " version\n  " + name + " version -o json"}
	build := func(context.Context, []string) (b Build, err error) {
		catalog := ""
		if a.CatalogDate != nil {
			if catalog, err = a.CatalogDate(a); err != nil {
				return Build{}, err
			}
		}
		b = ReadBuild()
		b.Catalog = catalog
		return b, nil
	}
	return Answer(a, "Version", cmd, build, Build.rows)
}
