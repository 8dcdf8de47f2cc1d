package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/test/wine/winenode/answer"
	"github.com/winbake/winbake/test/wine/winenode/script"
)

// refusal is what PowerShell says of the first script of a call that it can't
// parse, "" for none. Nothing is run: scripts that others name are looked at as
// if they were.
func refusal(args []string) string {
	file, text := script.Called(args)
	seen := map[string]bool{}
	if file == "" {
		return parsed("line", text, seen)
	}
	return parsedFile(file, seen)
}

func parsedFile(path string, seen map[string]bool) string {
	key := strings.ToLower(filepath.Clean(path))
	data, err := os.ReadFile(path)
	if seen[key] || err != nil {
		return "" // what isn't there may be made by what runs before
	}
	seen[key] = true
	text := script.Decode(data)
	switch strings.ToLower(filepath.Ext(path)) {
	case ".ps1", ".psm1":
		return parsed(path, text, seen)
	}
	return named(text, seen) // cmd.exe's
}

func parsed(name, text string, seen map[string]bool) string {
	wrong := script.Check(text)
	if wrong == nil {
		return named(text, seen)
	}
	line := strings.TrimRight(strings.Split(text, "\n")[wrong.Line-1], "\r")
	return fmt.Sprintf("At %s:%d char:%d\r\n+ %s\r\n%s\r\n    + CategoryInfo          : ParserError: (:) [], ParseException\r\n",
		name, wrong.Line, wrong.Column, line, wrong.What)
}

// named looks at the scripts that a script names.
func named(text string, seen map[string]bool) string {
	for _, path := range answer.ScriptPaths(text) {
		if said := parsedFile(path, seen); said != "" {
			return said
		}
	}
	return ""
}
