package skewreport

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// advice is what a finding asks for: its remedy in words, then each action with
// its commands.
func advice(f finding.Finding) []paragraph {
	all := paragraphs(f.Remedy)
	for _, a := range f.Actions {
		if !strings.Contains(f.Remedy, a.Summary) {
			all = append(all, paragraph{false, a.Summary})
		}
		if lines := commandLines(a); len(lines) > 0 {
			all = append(all, paragraph{true, strings.Join(lines, "\n")})
		}
	}
	return all
}

// commandLines are all that an action runs, in order.
func commandLines(a finding.Action) []string { return slices.Concat(a.Commands, a.Wait) }

// programs start the command lines that remedies hold. What isn't known to be
// a command is prose, which may be wrapped.
var programs = []string{"oc", "kubectl", "helm", "aws", "az", "gcloud", "govc", "git", "curl", "podman", "skopeo",
	"sc.exe", "powershell", "powershell.exe", "Get-Service", "Restart-Service"}

// own are our commands: "verify that all is well" isn't one.
var own = map[string][]string{
	"verify": {"skew", "inventory", "catalog", "payload", "binary", "node", "template"},
	"bake":   {"manifests", "payload", "node", "template"},
}

// paragraph is a run of lines of a remedy: prose, or commands.
type paragraph struct {
	Command bool
	// Text of commands has a line for each; prose is one line.
	Text string
}

// paragraphs takes a remedy apart into prose and commands, each in its order.
// A line is a command if it starts with a program that is known or a prompt,
// is indented like code, or continues one that ends in a backslash.
func paragraphs(text string) []paragraph {
	var all []paragraph
	continued, gap := false, true
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" {
			gap, continued = true, false
			continue
		}
		command := continued || isCommand(line)
		continued = command && strings.HasSuffix(line, `\`)
		line = strings.TrimPrefix(line, "$ ")
		if last := len(all) - 1; !gap && last >= 0 && all[last].Command == command {
			all[last].Text += map[bool]string{true: "\n", false: " "}[command] + line
		} else {
			all = append(all, paragraph{command, line})
		}
		gap = false
	}
	return all
}

func isCommand(line string) bool {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "$ ") {
		return true
	}
	first, rest, _ := strings.Cut(line, " ")
	if commands := own[first]; commands != nil {
		second, _, _ := strings.Cut(rest, " ")
		return slices.Contains(commands, second)
	}
	return rest != "" && slices.Contains(programs, first)
}

// span is a run of prose, or code that stood in backticks.
type span struct {
	Code bool
	Text string
}

// spans takes prose apart at pairs of backticks. A backtick without a partner
// is a character like any other.
func spans(s string) []span {
	var all []span
	for s != "" {
		prose, rest, ok := strings.Cut(s, "`")
		code, after, closed := strings.Cut(rest, "`")
		if !ok || !closed {
			return append(all, span{false, s})
		}
		if prose != "" {
			all = append(all, span{false, prose})
		}
		if code == "" { // a run of backticks marks no code
			all = append(all, span{false, "``"})
		} else {
			all = append(all, span{true, code})
		}
		s = after
	}
	return all
}
