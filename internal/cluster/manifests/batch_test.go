package manifests

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/windows/winsvc"
)

// cmdReads is what cmd.exe makes of a line of a batch file: %% is %, a caret
// outside quotes takes the meaning of what follows, and nothing between quotes
// has one. ok is false where the line would be cut or expanded.
func cmdReads(line string) (read string, ok bool) {
	if strings.Contains(strings.ReplaceAll(line, "%%", ""), "%") {
		return "", false
	}
	line = strings.ReplaceAll(line, "%%", "%")
	var b strings.Builder
	inQuotes := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			inQuotes = !inQuotes
		case c == '^' && !inQuotes:
			if i++; i == len(line) {
				return "", false
			}
		case strings.IndexByte("&|<>()", c) >= 0 && !inQuotes:
			return "", false
		}
		b.WriteByte(line[i])
	}
	return b.String(), !inQuotes
}

var hard = []string{``, `a`, `a b`, `say "hi" & go`, `50%`, `%a%`, `^x|y>z`, `end\`, `end \`, `"`, `"&"`, `^"`, `a"b"c d`, `((`, `\\"\\`, `!a!`, `C:\R&D (x86)\a.exe -b "c d"`}

func TestTokens(t *testing.T) {
	for _, text := range hard {
		checkToken(t, text)
	}
}

func checkToken(t *testing.T, text string) {
	t.Helper()
	line, ok := cmdReads(token(text))
	if !ok {
		t.Fatalf("%q is written %s, which cmd.exe cuts or expands", text, token(text))
	}
	if argv, err := winsvc.ParseCommand("sc.exe " + line); err != nil || len(argv) != 2 || argv[1] != text {
		t.Errorf("%q is written %s, and sc.exe reads %q, %v", text, token(text), argv, err)
	}
	// SET drops quotes that stand around all of it, and nothing else.
	line, ok = cmdReads(want(text))
	if strings.HasPrefix(line, `"`) {
		line = strings.TrimSuffix(strings.TrimPrefix(line, `"`), `"`)
	}
	if !ok || line != "want="+text {
		t.Errorf("%q is assigned as %s, which is %q", text, want(text), line)
	}
}

func FuzzToken(f *testing.F) {
	for _, text := range hard {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			return // refused before
		}
		checkToken(t, text)
	})
}
