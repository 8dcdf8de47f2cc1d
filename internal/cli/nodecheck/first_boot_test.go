package nodecheck

import (
	"bytes"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cli/app"
)

// TestFirstBootFlags: flags that would do nothing are refused, and so is a
// machine that has no Windows Setup. What the check does is tested on a Wine
// node, in test/node.
func TestFirstBootFlags(t *testing.T) {
	for args, want := range map[string][2]string{
		"node --wait 1m":          {"--wait does nothing without --first-boot", "fix: add --first-boot"},
		"node --result x.json":    {"--result does nothing without --first-boot", "fix: add --first-boot"},
		"node --first-boot":       {"this isn't a Windows node", "bake template --first-boot-check"},
		"node --first-boot --wai": {"unknown flag: --wai", "fix: verify node --wait"},
	} {
		var out, trouble bytes.Buffer
		a := &app.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &trouble}
		code := a.Run(t.Context(), New(a), strings.Fields(args))
		if said := trouble.String(); code != 1 || !strings.Contains(said, want[0]) || !strings.Contains(said, want[1]) || out.Len() > 0 {
			t.Errorf("%s: %d\n%s%s", args, code, &out, said)
		}
	}
}
