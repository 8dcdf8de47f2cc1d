package finding

import (
	"fmt"
	"slices"
	"strings"
)

// The exit codes of every command. They are frozen: scripts branch on them.
const (
	ExitOK      = 0 // fine
	ExitError   = 1 // usage, I/O or an internal fault
	ExitWarn    = 2 // WARN, under --fail-on=warn
	ExitBlock   = 3 // BLOCK, or a check that failed
	ExitUnknown = 4 // something could not be told
)

// FailOn is the lowest severity that makes a command fail. Its zero value
// isn't valid: use DefaultFailOn.
type FailOn Severity

// DefaultFailOn fails on BLOCK and on UNKNOWN, and lets WARN through.
const DefaultFailOn = FailOn(Unknown)

// FailOnNames lists the values that --fail-on takes.
var FailOnNames = []string{"block", "unknown", "warn"}

// String, Set and Type make FailOn a pflag value.
func (f FailOn) String() string { return strings.ToLower(Severity(f).String()) }

// Set reads block, unknown or warn.
func (f *FailOn) Set(s string) error {
	if !slices.Contains(FailOnNames, s) {
		return fmt.Errorf("%q is none of %s", s, strings.Join(FailOnNames, ", "))
	}
	var sev Severity
	if err := sev.UnmarshalText([]byte(strings.ToUpper(s))); err != nil {
		return err
	}
	*f = FailOn(sev)
	return nil
}

// Type names the value in help texts.
func (FailOn) Type() string { return "severity" }

// ExitCode returns the exit code of a command that found fs. BLOCK wins over
// UNKNOWN, UNKNOWN over WARN.
func (f FailOn) ExitCode(fs []Finding) int {
	worst := Worst(fs)
	if worst < Severity(f) {
		return ExitOK
	}
	switch worst {
	case Block:
		return ExitBlock
	case Unknown:
		return ExitUnknown
	case Warn:
		return ExitWarn
	case Pass, Info:
	}
	return ExitOK
}
