package lint

import (
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/lint/internal/notation"
)

// What Check and CheckBuild answer with, under names that importers can use.
type (
	// Finding is one rule's answer about one object.
	Finding = finding.Finding
	// Severity orders findings from harmless to blocking.
	Severity = finding.Severity
	// Error says what is wrong, where, and what fixes it.
	Error = fault.Error
)

// The severities of findings, least first.
const (
	Pass    = finding.Pass
	Info    = finding.Info
	Warn    = finding.Warn
	Unknown = finding.Unknown
	Block   = finding.Block
)

// Build is what a build does to a machine, wherever that was read: in a
// template's folder, or at the machine itself.
type Build struct {
	// Profile is "openshift" or "generic"; empty is openshift.
	Profile string
	// Builders are Packer's: vsphere-iso. They decide which steps are needed.
	Builders []string
	// Scripts are in the order in which they run, as far as it is known.
	Scripts []Script
	// Answers are the answer files of Windows Setup and sysprep.
	Answers []File
	// Unread names a step whose content isn't known, such as "provisioner
	// ansible"; "" for none. What is missing is UNKNOWN then.
	Unread string

	way   *way              // how Packer gets into a machine that Windows Setup makes; nil where that isn't known
	base  string            // what the machine is cloned from, which may have steps of the list
	given func(string) bool // whether a text was given to the build; nil where all may have been
	media map[string]bool   // names of files on the machine's CD and floppy; whole: there are no others
	whole bool
}

// File is a file's content under its name.
type File struct {
	Name string
	Data []byte

	paths  []string          // where it is brought, if that isn't under its name
	values map[string]string // those that templatefile puts into it, as far as they are known
}

func (f File) places() []string {
	if len(f.paths) == 0 {
		return []string{f.Name}
	}
	return f.paths
}

// Language is what a script is written in.
type Language string

// The languages.
const (
	PowerShell Language = "powershell"
	Cmd        Language = "cmd"
	Text       Language = "" // neither: a configuration file
)

// Stage is when a script runs.
type Stage string

// The stages of an image's life.
const (
	OnCall  Stage = ""         // a file that runs if another script or an answer file names it
	AtSetup Stage = "setup"    // before Packer comes in: Windows Setup, first logon, user data
	AtBuild Stage = "build"    // a provisioner, or the shutdown command
	InClone Stage = "in clone" // in the machines that are made of the image
)

// Script is one script of a build.
type Script struct {
	// Name is where it is from, for findings: scripts/openssh.ps1.
	Name string
	// Paths are what other scripts call it by; Name's last part always is.
	Paths    []string
	Language Language
	Text     string
	Stage    Stage
	// Env is its environment, as far as it is known.
	Env map[string]string

	values  map[string]string
	binary  bool   // it isn't text
	partial bool   // a part of the text isn't known, or PowerShell 7 reads it
	last    bool   // it shuts the machine down
	waits   bool   // a provisioner's: it says what comes of a restart
	again   bool   // one before it of the same name, without its text
	bare    string // the text without its comments
}

// LanguageOf tells a script's language by its file's name.
func LanguageOf(name string) Language {
	switch notation.DialectOf(name) {
	case notation.PowerShell:
		return PowerShell
	case notation.Batch:
		return Cmd
	}
	return Text
}
