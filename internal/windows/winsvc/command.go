package winsvc

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/winname"
)

// Command is the command line that the service manager starts: the program
// and its arguments, quoted where CommandLineToArgvW and Go's runtime need it
// and nowhere else, so that WMCO's own lines come out as WMCO writes them.
func (s Service) Command() string {
	var b strings.Builder
	b.WriteString(quotePath(s.Path))
	for _, a := range s.Arguments {
		b.WriteString(" " + QuoteArgument(a))
	}
	return b.String()
}

// quotePath quotes a program's name by its own rule: nothing is escaped in
// it. Left unquoted with a space in it, C:\Program Files\x.exe would start
// C:\Program.exe if there is one.
func quotePath(path string) string {
	if path == "" || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' }) {
		return `"` + path + `"`
	}
	return path
}

// QuoteArgument quotes one argument, if it must be, so that CommandLineToArgvW
// reads it back as it is
// (https://learn.microsoft.com/windows/win32/api/shellapi/nf-shellapi-commandlinetoargvw).
func QuoteArgument(arg string) string {
	if arg != "" && !strings.ContainsAny(arg, " \t\n\v\"") {
		return arg
	}
	var b strings.Builder
	b.WriteByte('"')
	backslashes := 0
	for i := range len(arg) {
		switch c := arg[i]; c {
		case '\\':
			backslashes++
		case '"': // each backslash before a quote needs another, and so does the quote
			b.WriteString(strings.Repeat(`\`, backslashes+1))
			backslashes = 0
		default:
			backslashes = 0
		}
		b.WriteByte(arg[i])
	}
	b.WriteString(strings.Repeat(`\`, backslashes))
	b.WriteByte('"')
	return b.String()
}

// ParseCommand takes a command line apart as CommandLineToArgvW does: the
// program first, by the rule for programs, then the arguments.
func ParseCommand(line string) ([]string, error) {
	switch {
	case strings.ContainsRune(line, 0):
		return nil, errors.New("a command line can't hold a zero byte")
	case line == "":
		return nil, errors.New("the command line is empty")
	}
	program, rest, err := cutProgram(line)
	if err != nil {
		return nil, err
	}
	argv := []string{program}
	for {
		rest = strings.TrimLeft(rest, " \t")
		if rest == "" {
			return argv, nil
		}
		var arg string
		arg, rest = cutArgument(rest)
		argv = append(argv, arg)
	}
}

// cutProgram reads the first word, in which backslashes mean nothing and a
// quote ends what a quote began.
func cutProgram(line string) (program, rest string, err error) {
	if line[0] == '"' {
		program, rest, found := strings.Cut(line[1:], `"`)
		if !found {
			return "", "", fmt.Errorf("the quote before %q isn't closed", line[1:])
		}
		return program, rest, nil
	}
	end := strings.IndexFunc(line, func(r rune) bool { return r <= ' ' })
	if end < 0 {
		return line, "", nil
	}
	return line[:end], line[end:], nil
}

// cutArgument reads one argument from the start of line, which isn't empty
// and doesn't begin with a space.
func cutArgument(line string) (arg, rest string) {
	var b strings.Builder
	slashes, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			slashes++
			continue
		case c == '"' && slashes%2 == 1:
			b.WriteString(strings.Repeat(`\`, slashes/2) + `"`)
		case c == '"': // of two within quotes the second is one, and ends them
			b.WriteString(strings.Repeat(`\`, slashes/2))
			if quoted && strings.HasPrefix(line[i+1:], `"`) {
				b.WriteByte(c)
				i++
			}
			quoted = !quoted
		case (c == ' ' || c == '\t') && !quoted:
			return b.String() + strings.Repeat(`\`, slashes), line[i:]
		default: // backslashes before anything but a quote are themselves
			b.WriteString(strings.Repeat(`\`, slashes) + line[i:i+1])
		}
		slashes = 0
	}
	return b.String() + strings.Repeat(`\`, slashes), ""
}

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

// Directory is path up to its last backslash; "" if it has none.
func Directory(path string) string { return path[:max(0, strings.LastIndexByte(path, '\\'))] }

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
		switch dir := Directory(file); {
		case !LegalPath(file):
			p.item("args", i, `write the whole path, such as C:\var\log\NAME\NAME.log`, "%s isn't a file on a Windows node", printable.Quote(file))
		case s.LogDirectory == "":
			p.item("args", i, "add logDirectory: '"+dir+"'", "%s writes its log into %s, and nothing makes that folder", s.Name, dir)
		case !strings.EqualFold(dir, s.LogDirectory):
			p.item("args", i, "write logDirectory: '"+dir+"'", "%s writes its log into %s, and logDirectory is %s", s.Name, dir, s.LogDirectory)
		}
	}
}
