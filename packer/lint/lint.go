package lint

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

// rules are in the order of the documentation.
var rules = []Rule{ruleHCL, rulePlugin, ruleBase, ruleGuestID, ruleFirmware, ruleISO, ruleBoot, ruleReach, ruleTimeout, ruleSecret, ruleAnswer, ruleScript, ruleGuestCheck}

// Retired are the rules that went: they spoke of what a build does in the guest.
var Retired = []string{"template.updates", "template.key", "template.letter", "template.download", "template.winrm", "template.left", "template.payload", "template.sysprep", "template.checklist"}

// Rules lists all of them, for the documentation.
func Rules() []Rule { return slices.Clone(rules) }

// Profiles are what a template can be held to.
func Profiles() []string { return []string{"openshift", "generic"} }

// Options say what a template is held to.
type Options struct {
	// Profile is "openshift" or "generic"; empty for what is true of any template.
	Profile string
	// VarFiles are read as packer's -var-file, in this order.
	VarFiles []string
}

// Result is what Check found.
type Result struct {
	Findings []finding.Finding
	// Files is how many files were read.
	Files int
	// Sources names the builders: vsphere-iso.windows.
	Sources []string
	// Linux names sources of Linux, beside those of Windows: they aren't judged.
	Linux []string
}

// Check reads the folder, or the one .pkr.hcl file, at path. The error says where
// there is no template; one that can't be parsed is a finding.
func Check(path string, o Options) (*Result, error) {
	f, err := hclfolder.Load(path, o.VarFiles)
	if err != nil {
		return nil, err
	}
	t := &template{Folder: f, profile: o.Profile}
	t.findAnswers()
	r := &Result{Files: len(f.Files) + len(t.answers)}
	for _, s := range f.Sources {
		r.Sources = append(r.Sources, s.Name())
	}
	for _, s := range f.Linux {
		r.Linux = append(r.Linux, s.Name())
	}
	for _, rule := range rules {
		r.Findings = append(r.Findings, t.run(rule)...)
		if len(f.Wrong) > 0 {
			break // what else is found follows from that
		}
	}
	finding.Sort(r.Findings)
	return r, nil
}

// run is what a rule finds, each fault once, or that it passes.
func (t *template) run(r Rule) []finding.Finding {
	l := &look{template: t, rule: r}
	if r.folder != nil {
		r.folder(l)
	}
	for _, s := range t.Sources {
		if r.source != nil {
			r.source(l, s)
		}
	}
	if len(l.findings) == 0 {
		return []finding.Finding{{ID: r.ID, Object: "template", Observed: r.Title}}
	}
	said := map[string]bool{}
	return slices.DeleteFunc(l.findings, func(f finding.Finding) bool {
		key := fmt.Sprint(f.Object, f.Observed, f.Evidence)
		again := said[key]
		said[key] = true
		return again
	})
}
