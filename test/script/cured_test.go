package script

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	// prose is what may stand between a flag and its value in a fix: "--dir with a new
	// folder, such as out", "give --format one of archived, flat".
	prose = regexp.MustCompile(`with a new [a-z]+, such as |one of `)
	// ends is where prose goes on behind a command or a value.
	ends = regexp.MustCompile(`(?:[;,]| if ).*$`)
)

// cured runs a command that fails, does what its fix says, and runs it again, which has to
// succeed: cured CODE WORD COMMAND... WORD begins what the fix says: a command's name, or a
// flag, which the command then gets.
func cured(ts *testscript.TestScript, neg bool, args []string) {
	act := advised(ts, neg, args)
	command := args[2:]
	if value, flag := strings.CutPrefix(act, args[1]+" "); flag && strings.HasPrefix(args[1], "-") {
		if i := slices.Index(command, args[1]); i >= 0 {
			command = slices.Concat(command[:i], command[i+2:])
		}
		command = append(slices.Clone(command), args[1], value)
	} else {
		shell(ts, act)
	}
	if err := ts.Exec(command[0], command[1:]...); err != nil {
		ts.Fatalf("after %q %q: %v", act, command, err)
	}
}

// works runs a command that fails, and then the command that its fix is, which has to
// succeed: works CODE WORD COMMAND...
func works(ts *testscript.TestScript, neg bool, args []string) {
	shell(ts, advised(ts, neg, args))
}

// advised runs a command that has to fail, and returns what its fix says from a word on.
func advised(ts *testscript.TestScript, neg bool, args []string) string {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: cured|works CODE WORD command [args...]")
	}
	code(ts, false, slices.Concat(args[:1], args[2:]))
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		if fix, ok := strings.CutPrefix(strings.TrimSpace(line), "fix: "); ok {
			at := regexp.MustCompile(`(^| )` + regexp.QuoteMeta(args[1]) + ` `).FindStringIndex(fix)
			if at == nil {
				ts.Fatalf("the fix names no %s: %s", args[1], fix)
			}
			return ends.ReplaceAllString(prose.ReplaceAllString(strings.TrimSpace(fix[at[0]:]), ""), "")
		}
	}
	ts.Fatalf("it has no fix")
	return ""
}

func shell(ts *testscript.TestScript, line string) {
	if err := ts.Exec("sh", "-c", line); err != nil {
		ts.Fatalf("%s: %v", line, err)
	}
}
