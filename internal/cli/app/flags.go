package app

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/image/oci"
)

// choices is the key of a flag's annotation with the values that it may have.
const choices = "winbake_choices"

// EmptyIsValue is the key of the annotation of a flag that may be given empty.
const EmptyIsValue = "winbake_empty"

// folder is the key of the annotation of a flag that names a folder to write.
const folder = "winbake_folder"

// OutFolder adds --out, the folder that a command writes: no document for stdout.
func OutFolder(f *pflag.FlagSet, into *string) {
	f.StringVar(into, "out", "", "the folder to write")
	f.Lookup("out").Annotations = map[string][]string{folder: nil}
}

// Choices gives a flag fixed values: others are refused before any work, and
// these complete it.
func Choices(cmd *cobra.Command, flag string, values ...string) {
	Complete(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	f := cmd.Flag(flag)
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[choices] = values
}

// checkValues refuses values that a flag can't have: an empty one, which a script's unset
// variable gives, would be the default, another cluster or release than was meant.
func checkValues(cmd *cobra.Command) (err error) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, may := f.Annotations[EmptyIsValue]; !may && f.Changed && f.Value.Type() == "string" && f.Value.String() == "" {
			err = &fault.Error{What: "--" + f.Name + " has an empty value", Fix: "set the variable that it comes from, or leave --" + f.Name + " out"}
		}
		if _, is := f.Annotations[folder]; is && f.Value.String() == "-" {
			err = &fault.Error{What: "--" + f.Name + " -: a folder isn't written to standard output", Fix: "--" + f.Name + " FOLDER"}
		}
		values, fixed := f.Annotations[choices]
		if value := f.Value.String(); fixed && value != f.DefValue && !slices.Contains(values, value) {
			wrong := &fault.Error{What: fmt.Sprintf("--%s can't be %q", f.Name, value), Fix: "give --" + f.Name + " one of " + strings.Join(values, ", ")}
			if os.Getenv(envName(f)) == value {
				wrong.Where = envName(f)
			}
			err = wrong
		}
	})
	return err
}

// Complete completes a flag that cmd has.
func Complete(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic("a flag that isn't there: " + flag)
	}
}

// envPrefix begins the names of variables that give flags their values.
const envPrefix = "WINBAKE_"

// envName is a flag's variable: WINBAKE_CACHE_DIR for --cache-dir.
func envName(f *pflag.Flag) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// hasEnv leaves out what asks for another thing than the command does.
func hasEnv(f *pflag.Flag) bool { return !f.Hidden && f.Name != "help" && f.Name != "version" }

// fromEnv gives flags that aren't on the command line the values of their
// variables. An empty variable is none.
func fromEnv(cmd *cobra.Command) (err error) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value := os.Getenv(envName(f))
		if f.Changed || value == "" || !hasEnv(f) || err != nil {
			return
		}
		if wrong := cmd.Flags().Set(f.Name, value); wrong != nil {
			err = &fault.Error{Where: envName(f), What: fmt.Sprintf("--%s can't be %q", f.Name, value), Excerpt: wrong.Error(),
				Fix: "give the variable another value, or " + cmd.CommandPath() + " the flag", Err: wrong}
		}
	})
	return err
}

// Registry is the flags of commands that reach a registry.
type Registry struct {
	Insecure bool
	Timeout  time.Duration // 0: the default
}

// Options is how images are read and written with these flags.
func (r Registry) Options(a *App) oci.Options {
	return oci.Options{
		Keychain: authn.DefaultKeychain, Insecure: r.Insecure, UserAgent: "winbake/" + Version(), Timeout: r.Timeout, Retrying: a.Retrying,
	}
}

// Register adds them to f; whose is the registry's name in their help.
func (r *Registry) Register(f *pflag.FlagSet, whose string) {
	f.BoolVar(&r.Insecure, "plain-http", false, "talk plain http to "+whose)
	f.DurationVar(&r.Timeout, "registry-timeout", 0, "how long "+whose+" may be silent, or slower than 1 KiB a second (default 2m)")
}
