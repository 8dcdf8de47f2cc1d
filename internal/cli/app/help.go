package app

import (
	"fmt"
	"io/fs"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/base/printable"
)

// width is of a help's lines, in columns.
const width = 80

// Help gives cmd and the commands below it their texts, "bake cache gc" those of
// help/bake-cache-gc.txt: a line that says what it is for, the long text, and examples.
// A command without a file keeps the texts that it has.
func Help(cmd *cobra.Command, files fs.FS) {
	if text, err := fs.ReadFile(files, "help/"+strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".txt"); err == nil {
		told, examples, _ := strings.Cut(strings.TrimSpace(string(text)), "\n\nExamples:\n")
		cmd.Short, cmd.Long, _ = strings.Cut(told, "\n\n")
		cmd.Example = examples
	}
	for _, sub := range cmd.Commands() {
		Help(sub, files)
	}
}

// wrap breaks the long texts of cmd and of the commands below it.
func wrap(cmd *cobra.Command) {
	var paragraphs []string
	for p := range strings.SplitSeq(cmd.Long, "\n\n") {
		paragraphs = append(paragraphs, strings.Join(printable.Wrap(p, width), "\n"))
	}
	cmd.Long = strings.TrimSpace(strings.Join(paragraphs, "\n\n"))
	for _, sub := range cmd.Commands() {
		wrap(sub)
	}
}

// rare is the key of the annotation of a flag that a command's help leaves to the command
// "options"; its value is the title that the flag stands under there.
const rare = "winbake_rare"

const everywhere = "Flags of every command"

// Rare leaves the flags of a set, but for some, to "options", under a title.
func Rare(set *pflag.FlagSet, title string, but ...string) {
	set.VisitAll(func(f *pflag.Flag) {
		for _, name := range but {
			if f.Name == name {
				return
			}
		}
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[rare] = []string{title}
	})
}

// more is the key of the annotation of a command that the first list only names.
const more = "winbake_more"

// More are root's commands that its list only names: most people never need them.
func More(root *cobra.Command, names ...string) {
	for _, c := range root.Commands() {
		for _, name := range names {
			if c.Name() == name {
				annotate(c, more)
			}
		}
	}
}

func annotate(c *cobra.Command, key string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[key] = "true"
}

// group is the key of the annotation of a command that does nothing but hold others.
const group = "winbake_group"

// usage writes how a command is called, its examples, commands and flags, in lines of at
// most 80 columns.
func usage(cmd *cobra.Command) error {
	out := cmd.OutOrStderr()
	fmt.Fprintln(out, "Usage:")
	if cmd.Runnable() && cmd.Annotations[group] == "" {
		fmt.Fprintln(out, " ", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintln(out, " ", cmd.CommandPath(), "COMMAND [flags]")
	}
	if cmd.HasExample() {
		fmt.Fprintf(out, "\nExamples:\n%s\n", cmd.Example)
	}
	var others []string
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	title := "\nCommands:\n"
	for _, c := range cmd.Commands() {
		_, less := c.Annotations[more]
		switch {
		case !c.IsAvailableCommand() && c.Name() != "help":
		case less || !cmd.HasParent() && (c.Name() == "help" || c.Name() == "completion"):
			others = append(others, c.Name())
		default:
			fmt.Fprintf(table, "%s  %s\t%s\n", title, c.Name(), c.Short)
			title = ""
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the help: %w", err)
	}
	if len(others) > 0 {
		fmt.Fprintf(out, "\n%s\n", strings.Join(printable.Wrap("More: "+strings.Join(others, ", "), width), "\n"))
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	add := func(f *pflag.Flag) {
		if f.Annotations[rare] == nil {
			own.AddFlag(f)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	fmt.Fprintf(out, "\nFlags:\n%s", own.FlagUsagesWrapped(width))
	fmt.Fprintf(out, "\nMore flags, and a variable for each: %s options\n", cmd.Root().CommandPath())
	return nil
}

// newOptions is the command that lists the flags which no command's help has.
func newOptions(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:         "options",
		Short:       "List the flags that many commands have, and the variables",
		Example:     "  " + root.Name() + " options",
		Annotations: map[string]string{more: "true"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			titles, sets := []string{}, map[string]*pflag.FlagSet{}
			collect := func(f *pflag.Flag) {
				title := f.Annotations[rare]
				if title == nil {
					return
				}
				set := sets[title[0]]
				if set == nil {
					set = pflag.NewFlagSet("", pflag.ContinueOnError)
					titles, sets[title[0]] = append(titles, title[0]), set
				}
				if set.Lookup(f.Name) == nil {
					set.AddFlag(f)
				}
			}
			var walk func(c *cobra.Command)
			walk = func(c *cobra.Command) {
				c.PersistentFlags().VisitAll(collect)
				c.Flags().VisitAll(collect)
				for _, sub := range c.Commands() {
					walk(sub)
				}
			}
			walk(root)
			for _, title := range titles {
				fmt.Fprintf(cmd.OutOrStdout(), "%s:\n%s\n", title, sets[title].FlagUsagesWrapped(width))
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), `Variables:
Each flag's value can come from a variable: WINBAKE_CACHE_DIR is --cache-dir.
The flag wins. NO_COLOR, KUBECONFIG, DOCKER_CONFIG, GOPROXY and the like mean
what they mean elsewhere.
`)
			return err
		},
	}
}
