package app

import (
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
)

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
