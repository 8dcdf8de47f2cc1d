package app

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/fault"
)

// choices is the key of a flag's annotation with the values that it may have.
const choices = "winbake_choices"

// EmptyIsValue is the key of the annotation of a flag that may be given empty.
const EmptyIsValue = "winbake_empty"

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
