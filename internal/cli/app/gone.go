package app

import (
	"strings"

	"github.com/spf13/cobra"
)

// gone is what earlier versions had, as a user types it after the program's name,
// and what does it now. Flags are looked for with their command first, then alone.
var gone = map[string]string{
	"node":          "on the node: verify.exe node install, check or remove; bake verify-exe builds verify.exe",
	"node --expect": "verify.exe node check NODE.JSON",
}

// instead is what a user does now for a word or flag that went; "" for one that never was.
func instead(cmd *cobra.Command, word string) string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	if use, ok := gone[strings.TrimSpace(path+" "+word)]; ok {
		return use
	}
	return gone[word]
}
