package imagecheck

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	localFirewall  = `HKLM\SYSTEM\CurrentControlSet\Services\SharedAccess\Parameters\FirewallPolicy`
	policyFirewall = `HKLM\SOFTWARE\Policies\Microsoft\WindowsFirewall`
)

// networks are the firewall's profiles: by the name in rules, the registry key. A
// clone's network is in any of them.
var networks = []struct{ name, key string }{{"Domain", "DomainProfile"}, {"Private", "StandardProfile"}, {"Public", "PublicProfile"}}

// open wants a TCP port that the firewall lets in on every network.
func open(port int) question {
	return func(w *asked) Answer {
		rules := firewallRules(w)
		var closed, restricted []string
		for _, n := range networks {
			if w.firewallOff(n.key) {
				continue
			}
			switch judgePort(rules, n.name, port) {
			case portClosed:
				closed = append(closed, n.name)
			case portRestricted:
				restricted = append(restricted, n.name)
			case portOpen:
			}
		}
		if len(closed) > 0 {
			return wrong("closed on networks of the profile %s", strings.Join(closed, ", "))
		}
		if len(restricted) > 0 {
			w.answered(fmt.Errorf("a rule opens the port for some addresses, interfaces or authenticated connections alone: whether the cluster's are among them can't be seen here (%s)", strings.Join(restricted, ", ")))
		}
		return right("open on every network")
	}
}

// portRow is the row of a port, whose words are the same for all.
func portRow(id, rule string, port int, r Row) Row {
	n := strconv.Itoa(port)
	r.ID, r.Object, r.Ask, r.Later = id, "TCP port "+n, open(port), true
	r.Expected = "let in by the firewall on every network"
	r.Fix = "New-NetFirewallRule -Name " + rule + " -DisplayName " + rule + " -Direction Inbound -Protocol TCP -LocalPort " + n + " -Action Allow -Profile Any"
	return r
}

// firewallOff: a policy's setting comes before the machine's own.
func (w *asked) firewallOff(profile string) bool {
	return cmp.Or(w.value(policyFirewall+`\`+profile, "EnableFirewall"), w.value(localFirewall+`\`+profile, "EnableFirewall")) == "0"
}

// firewallRules are the machine's own rules and those of a policy, which may say that
// the machine's own don't count.
func firewallRules(w *asked) (rules []firewallRule) {
	local, err := w.Values(localFirewall + `\FirewallRules`)
	if w.answered(err) && len(local) == 0 {
		w.answered(errors.New("the registry has no rule of the firewall"))
	}
	policy, err := w.Values(policyFirewall + `\FirewallRules`)
	w.there(err)
	if w.value(policyFirewall+`\PublicProfile`, "AllowLocalPolicyMerge") == "0" {
		local = nil
	}
	for _, text := range slices.Concat(local, policy) {
		rules = append(rules, parseRule(text))
	}
	return rules
}

// firewallRule is a rule's fields by name, as MS-GPFAS 2.2.2.19 has them:
// v2.31|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=22|
type firewallRule map[string][]string

func parseRule(text string) firewallRule {
	r := firewallRule{}
	for field := range strings.SplitSeq(text, "|") {
		if name, v, ok := strings.Cut(field, "="); ok {
			r[name] = append(r[name], v)
		}
	}
	return r
}

func (r firewallRule) says(name, v string) bool {
	return slices.ContainsFunc(r[name], func(have string) bool { return strings.EqualFold(have, v) })
}

// saysOrAny: a field that a rule doesn't have means all values.
func (r firewallRule) saysOrAny(name, v string) bool { return len(r[name]) == 0 || r.says(name, v) }

// concerns tells whether the rule is for what comes in to a TCP port.
func (r firewallRule) concerns(network string, port int) bool {
	return r.says("Active", "TRUE") && r.says("Dir", "In") && r.saysOrAny("Protocol", "6") && r.saysOrAny("Profile", network) && r.hasPort(port)
}

func (r firewallRule) hasPort(port int) bool {
	all := slices.Concat(r["LPort"], r["LPort2_10"])
	if len(all) == 0 {
		return !r.has(programs)
	}
	return slices.ContainsFunc(all, func(v string) bool {
		from, to, isRange := strings.Cut(v, "-")
		if !isRange {
			to = from
		}
		low, err := strconv.Atoi(from)
		if err != nil {
			return false // a word, such as RPC
		}
		high, err := strconv.Atoi(to)
		return err == nil && low <= port && port <= high
	})
}

// By these fields a rule counts for some connections, or some programs, alone.
var (
	narrows  = []string{"RA4", "RA6", "RA42", "RA62", "LA4", "LA6", "IF", "IFType", "RPort", "RPort2_10", "Security", "Security2", "Security2_9", "RMAuth", "RUAuth"}
	programs = []string{"App", "Svc", "AppPkgId", "LUOwn", "LUAuth"}
)

func (r firewallRule) has(fields []string) bool {
	return slices.ContainsFunc(fields, func(name string) bool { return len(r[name]) > 0 })
}

type portState int

const (
	portClosed portState = iota
	portRestricted
	portOpen
)

// judgePort: a rule that blocks wins over one that allows. A rule for a program
// counts if it names the port, as sshd's own does.
func judgePort(rules []firewallRule, network string, port int) portState {
	state := portClosed
	for _, r := range rules {
		if !r.concerns(network, port) {
			continue
		}
		switch {
		case r.says("Action", "Block") && !r.has(narrows) && !r.has(programs):
			return portClosed
		case r.says("Action", "Allow") && r.has(narrows):
			state = max(state, portRestricted)
		case r.says("Action", "Allow"):
			state = portOpen
		}
	}
	return state
}
