package answer

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
)

// scriptPath is a script by its whole path, as commands and scripts name it.
var scriptPath = regexp.MustCompile(`(?i)\b[a-z]:[\\/][^'"<>|;:&(){}*?\r\n]*?\.(?:ps1|psm1|cmd|bat)\b`)

// ScriptPaths are the scripts that a command or another script names.
func ScriptPaths(text string) []string {
	paths := scriptPath.FindAllString(text, -1)
	slices.Sort(paths)
	return slices.Compact(paths)
}

// valued are the options of powershell.exe that have a value, besides those that
// say what to run.
var valued = []string{"executionpolicy", "windowstyle", "version", "inputformat", "outputformat", "configurationname", "psconsolefile"}

// Script is what a call of powershell.exe is to run: a file, or a text of its
// command line. Options may be cut short
// (https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_powershell_exe).
func Script(args []string) (file, text string) {
	for i := 0; i < len(args); i++ {
		option, is := strings.CutPrefix(strings.ToLower(args[i]), "-")
		rest := strings.Join(args[i+1:], " ")
		switch {
		case !is:
			return "", strings.Join(args[i:], " ")
		case option == "ec" || option != "" && strings.HasPrefix("encodedcommand", option):
			return "", decoded(rest)
		case option != "" && strings.HasPrefix("file", option):
			return strings.Join(args[i+1:min(i+2, len(args))], ""), ""
		case option != "" && strings.HasPrefix("command", option):
			return "", rest
		case option == "ep" || slices.ContainsFunc(valued, func(v string) bool { return option != "" && strings.HasPrefix(v, option) }):
			i++
		}
	}
	return "", ""
}

func decoded(encoded string) string {
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return encoded
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
	}
	return string(utf16.Decode(units))
}
