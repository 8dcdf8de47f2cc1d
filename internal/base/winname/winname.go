// Package winname holds the rules of Windows for names of files.
package winname

import (
	"fmt"
	"strings"
)

// Check says why a name can't name a file on a Windows node, or
// would name another one:
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func Check(p string) string {
	for part := range strings.SplitSeq(p, "/") {
		if wrong := checkName(part); wrong != "" {
			return wrong
		}
		stem, _, _ := strings.Cut(strings.ToUpper(part), ".")
		if reservedNames[stem] {
			return stem + " is a device on Windows"
		}
	}
	return ""
}

var reservedNames = func() map[string]bool {
	m := map[string]bool{"CON": true, "PRN": true, "AUX": true, "NUL": true}
	for _, digit := range "123456789¹²³" { // COM0 is a file like any other
		m["COM"+string(digit)], m["LPT"+string(digit)] = true, true
	}
	return m
}()

// checkName applies the rules of Windows for file names:
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func checkName(name string) string {
	if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`<>:"\|?*`, r) }); i >= 0 {
		return fmt.Sprintf("character %q isn't allowed on Windows", name[i])
	}
	if strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return "a name that ends in a dot or a space isn't allowed on Windows"
	}
	return ""
}
