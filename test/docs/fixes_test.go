package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
	"github.com/winbake/winbake/internal/cli/verify"
	"github.com/winbake/winbake/internal/cli/verifyexe"
)

// ofFix is a command in the text of a fix, up to where prose goes on.
var ofFix = regexp.MustCompile(`(?:^|[ (:;,])((?:bake|verify|verify\.exe) (?:[a-z]|-)[^;,:)]*)`)

// filled is where Sprintf writes a value.
var filled = regexp.MustCompile(`%(\[\d\])?[a-z]`)

// ends are words with which prose goes on behind a command.
var ends = regexp.MustCompile(`(?: |^)(?:prints|writes|says|shows|builds?|lists|takes|makes|has|in|of|for|with|and|or|if|where|which|to|on|can|from|is|names|again|instead|then|there|leave|once|it|into|before)(?: |$)`)

// TestFixesAreCommands: each command of bake and verify in a fix of the source is one that
// there is, with flags that it has. What a value decides is X.
func TestFixesAreCommands(t *testing.T) {
	a := &app.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	roots := map[string]func() *cobra.Command{
		"bake": func() *cobra.Command { return bake.New(a) }, "verify": func() *cobra.Command { return verify.New(a) }, "verify.exe": func() *cobra.Command { return verifyexe.New(a) },
	}
	found := 0
	for _, root := range []string{"internal", "payload", "packer", "cmd"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			tokens := token.NewFileSet()
			parsed, err := parser.ParseFile(tokens, file, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				kv, ok := n.(*ast.KeyValueExpr)
				if !ok {
					return true
				}
				if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "Fix" {
					return true
				}
				for _, m := range ofFix.FindAllStringSubmatch(textOf(kv.Value), -1) {
					line := m[1]
					if at := ends.FindStringIndex(line); at != nil {
						line = line[:at[0]]
					}
					words := strings.Fields(line)
					if len(words) < 2 {
						continue
					}
					found++
					if err := isCommand(roots[words[0]](), words[1:]); err != nil {
						t.Errorf("%s: %s: %v", tokens.Position(kv.Pos()), line, err)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// Were the texts read otherwise than they are written, there would be fewer.
	if found != 59 {
		t.Errorf("%d commands in all fixes", found)
	}
}

// textOf is what an expression says, with X for what isn't a constant.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err != nil {
			return "X"
		}
		return filled.ReplaceAllString(text, "X")
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" && len(e.Args) > 0 {
			return textOf(e.Args[0])
		}
	}
	return "X"
}

func isCommand(root *cobra.Command, words []string) error {
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	for _, w := range rest {
		name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch {
		case strings.HasPrefix(w, "--"):
			if name != "X" && cmd.Flag(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
				return fmt.Errorf("%s has no flag %s", cmd.CommandPath(), w)
			}
		case strings.HasPrefix(w, "-") && len(w) == 2:
			if cmd.Flags().ShorthandLookup(w[1:]) == nil && cmd.InheritedFlags().ShorthandLookup(w[1:]) == nil {
				return fmt.Errorf("%s has no flag %s", cmd.CommandPath(), w)
			}
		}
	}
	return nil
}
