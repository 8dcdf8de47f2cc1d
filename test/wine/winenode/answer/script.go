package answer

import (
	"regexp"
	"slices"
)

// scriptPath is a script by its whole path, as commands and scripts name it.
var scriptPath = regexp.MustCompile(`(?i)\b[a-z]:[\\/][^'"<>|;:&(){}*?\r\n]*?\.(?:ps1|psm1|cmd|bat)\b`)

// ScriptPaths are the scripts that a command or another script names.
func ScriptPaths(text string) []string {
	paths := scriptPath.FindAllString(text, -1)
	slices.Sort(paths)
	return slices.Compact(paths)
}
