package command

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/winscript"
)

// Covers reports whether a rule is about a port, and whether it may be about others
// that aren't known.
func Covers(d winscript.Command, n int) (covered, open bool) {
	ports, text := d.Param("localport", -1), d.Text()
	if d.Name == "netsh" {
		if !strings.Contains(text, "firewall") || !strings.Contains(text, "add") {
			return false, false
		}
		ports.Texts = portsOf(d)
	}
	return slices.ContainsFunc(ports.Texts, func(p string) bool { return covers(p, n) }), ports.Open
}

// portsOf are those of netsh, several in a loop.
func portsOf(netsh winscript.Command) []string {
	var all []string
	for _, m := range netshPort.FindAllStringSubmatch(netsh.Text(), -1) {
		all = append(all, cmp.Or(m[1], m[2]))
	}
	return all
}

var netshPort = regexp.MustCompile(`localport=\s*"?([\d,\-]+)|portopening\s+\w+\s+(\d+)`)

// Blocks is what Closed says of a rule that overrules all that let in.
const Blocks = "the rule blocks the port"

// Closed says why a rule of the firewall doesn't let anybody in, "" if it does.
func Closed(d winscript.Command) string {
	text := strings.ReplaceAll(d.Text(), "= ", "=")
	is := func(param string, good ...string) bool {
		v := d.Param(param, -1)
		return v.Open || len(v.Texts) == 0 || slices.ContainsFunc(v.Texts, func(t string) bool { return slices.Contains(good, strings.ToLower(t)) })
	}
	switch {
	case strings.Contains(text, "dir=out"), !is("direction", "inbound"):
		return "the rule is for outbound connections"
	case strings.Contains(text, "protocol=udp"), !is("protocol", "tcp", "6", "any"):
		return "the rule isn't for TCP"
	case strings.Contains(text, "enable=no"), !is("enabled", "true", "1", "$true"):
		return "the rule is off"
	case strings.Contains(text, "action=block"), !is("action", "allow"):
		return Blocks
	case strings.Contains(text, "profile=domain") && !strings.Contains(text, "profile=domain,"), !is("profile", "any", "private", "public", "all", "notapplicable"):
		return "the rule is for a domain's network alone"
	}
	return ""
}

var netshGone = regexp.MustCompile(`firewall delete rule|firewall set rule .*\benable=no`)

// RuleNames are the names of the firewall's rules for a port that a command is about, in lower
// case. A loop has a name for each of its ports.
func RuleNames(c winscript.Command, port int) []string {
	ports, lists := c.Param("localport", -1).Texts, [][]string{c.Param("name", 0).Texts, c.Param("displayname", -1).Texts}
	if c.Name == "netsh" {
		var names []string
		for _, w := range c.Words() {
			if name, is := strings.CutPrefix(strings.ToLower(w), "name="); is {
				names = append(names, strings.Trim(name, `"'`))
			}
		}
		ports, lists = portsOf(c), [][]string{names}
	}
	var all []string
	for _, names := range lists {
		for i, name := range names {
			if len(ports) != len(names) || covers(ports[i], port) {
				all = append(all, strings.ToLower(name))
			}
		}
	}
	return all
}

// AreNamed reports whether a command is about a rule of one of these names.
func AreNamed(names []string, c winscript.Command) bool {
	return slices.ContainsFunc(RuleNames(c, 0), func(pattern string) bool {
		return slices.ContainsFunc(names, func(name string) bool { is, _ := path.Match(pattern, name); return is })
	})
}

// Removes reports whether a command takes rules away, or switches them off.
func Removes(c winscript.Command) bool {
	switch c.Name {
	case "netsh":
		return netshGone.MatchString(strings.ReplaceAll(c.Text(), "= ", "="))
	case "set-netfirewallrule":
		return slices.ContainsFunc(c.Param("enabled", -1).Texts, func(t string) bool { return strings.HasSuffix(strings.ToLower(t), "false") })
	}
	return c.Name == "remove-netfirewallrule" || c.Name == "disable-netfirewallrule"
}

// covers reports whether a port, a range or a list of both holds n.
func covers(ports string, n int) bool {
	return slices.ContainsFunc(strings.Split(ports, ","), func(p string) bool {
		from, to, ranged := strings.Cut(strings.TrimSpace(p), "-")
		low, err := strconv.Atoi(from)
		if !ranged {
			return err == nil && low == n || strings.EqualFold(p, "any")
		}
		high, err2 := strconv.Atoi(to)
		return err == nil && err2 == nil && low <= n && n <= high
	})
}
