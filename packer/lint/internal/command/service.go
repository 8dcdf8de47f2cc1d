package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/winscript"
)

// How a service starts, as StartType tells it.
const (
	Auto     = "auto"
	Disabled = "disabled"
)

var (
	startTypes = regexp.MustCompile(`auto|manual|demand|disabled`)
	inRegistry = regexp.MustCompile(`services\\([\w.-]+)["']? .*\bstart\b.* (?:0x0*)?([234])\b`)
	byNumber   = map[string]string{"2": Auto, "3": "manual", "4": Disabled}
)

// StartType is how a command has a service start, "" where it doesn't say: Auto, manual,
// demand or Disabled. A command for a name that isn't known is taken for the service's
// where it makes it Auto, and script, the words of the whole script, have its name.
func StartType(c winscript.Command, service string, script func() string) string {
	text := c.Text()
	named := func(names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, service) })
	}
	all := startTypes.FindAllString(text, -1)
	last := strings.Join(all[max(0, len(all)-1):], "")
	switch c.Name {
	case "sc":
		if !named(c.Words()) || !strings.Contains(text, " config ") {
			return ""
		}
	case "set-itemproperty", "new-itemproperty", "reg":
		if m := inRegistry.FindStringSubmatch(text); m != nil && m[1] == service {
			return byNumber[m[2]]
		}
		return ""
	case "set-service", "new-service", ".changestartmode":
		name := c.Param("name", 0)
		if guessed := name.Open && last == Auto && strings.Contains(script(), service); !named(name.Texts) && !guessed {
			return ""
		}
	default:
		return ""
	}
	return last
}
