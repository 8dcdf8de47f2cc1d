package winsvc

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/winname"
)

var (
	driveForm   = regexp.MustCompile(`^[A-Za-z]:\\`)
	logFlagForm = regexp.MustCompile(`^--?log[-_]?file(=(.*))?$`)
)

// LegalPath reports whether path is absolute, on a drive, and can exist on
// Windows: it names no device, leads nowhere else, and holds no variable.
func LegalPath(path string) bool {
	if !driveForm.MatchString(path) || !isPrintable(path) || len(path) > 259 {
		return false
	}
	below := strings.ReplaceAll(path[3:], `\`, "/")
	return !strings.ContainsAny(path[3:], "/%") && !slices.Contains(strings.Split(below, "/"), "") && winname.Check(below) == ""
}

// directory is path up to its last backslash; "" if it has none.
func directory(path string) string {
	i := strings.LastIndexByte(path, '\\')
	if i < 0 {
		return ""
	}
	return path[:i]
}

// logs checks that each log file is in the folder that is made first: no log
// library makes it, and a program that can't open its log ends.
func (p *problems) logs(s Service) {
	if s.LogDirectory != "" && !LegalPath(s.LogDirectory) {
		p.add("logDirectory", `write the whole path, such as C:\var\log\csi-proxy`, "%s isn't a folder on a Windows node", printable.Quote(s.LogDirectory))
		return
	}
	for i, a := range s.Arguments {
		m := logFlagForm.FindStringSubmatch(a)
		if m == nil {
			continue
		}
		file := m[2]
		if m[1] == "" && i+1 < len(s.Arguments) {
			file = s.Arguments[i+1]
		}
		switch dir := directory(file); {
		case !LegalPath(file):
			p.item("args", i, `write the whole path, such as C:\var\log\NAME\NAME.log`, "%s isn't a file on a Windows node", printable.Quote(file))
		case s.LogDirectory == "":
			p.item("args", i, "add logDirectory: '"+dir+"'", "%s writes its log into %s, and nothing makes that folder", s.Name, dir)
		case !strings.EqualFold(dir, s.LogDirectory):
			p.item("args", i, "write logDirectory: '"+dir+"'", "%s writes its log into %s, and logDirectory is %s", s.Name, dir, s.LogDirectory)
		}
	}
}
