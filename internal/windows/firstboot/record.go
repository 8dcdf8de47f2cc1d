package firstboot

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/finding"
)

// APIVersion is the record's. A reader refuses one that it doesn't know.
const APIVersion = "winbake.dev/first-boot/v1"

// ResultPath is where the record lies on a node unless somebody says otherwise.
const ResultPath = `C:\ProgramData\winbake\first-boot.json`

// Failed is the Outcome of a check that couldn't be made.
const Failed = "FAILED"

// Record is first-boot.json.
type Record struct {
	APIVersion string `json:"apiVersion"`
	// Time is when the answer was there, in UTC.
	Time time.Time `json:"time"`
	Host string    `json:"host,omitempty"`
	// OS is what the machine says of its Windows.
	OS string `json:"os,omitempty"`
	// Verify is the version of the verify.exe that looked.
	Verify string `json:"verify"`
	// Outcome is the worst severity that was found, or Failed.
	Outcome string `json:"outcome"`
	// ExitCode is verify.exe's own.
	ExitCode int `json:"exitCode"`
	// Error says why the check couldn't be made, "" where it could.
	Error string `json:"error,omitempty"`
	// EventLog says why the event log has nothing of this, "" where it has.
	EventLog string `json:"eventLog,omitempty"`
	// Findings are those that aren't PASS.
	Findings []finding.Finding `json:"findings"`
}

// Level is how an event is shown.
type Level int

// The levels of Windows' event log.
const (
	Information Level = iota
	Warning
	Error
)

// firstEvent is the event ID of a check without fault; others are that much
// above their exit code. They are frozen: monitoring asks for them.
const firstEvent = 100

// Event is how the record is in the event log: 100 for nothing worse than
// INFO, 101 for a check that couldn't be made, 102 for WARN, 103 for BLOCK, 104
// for UNKNOWN.
func (r *Record) Event() (Level, uint32) {
	if r.Outcome == Failed {
		return Error, firstEvent + finding.ExitError
	}
	code := finding.FailOn(finding.Warn).ExitCode(r.Findings)
	switch code {
	case finding.ExitOK:
		return Information, firstEvent
	case finding.ExitWarn:
		return Warning, firstEvent + finding.ExitWarn
	}
	return Error, firstEvent + uint32(code)
}

// maxEvent is how many characters of text an event may have, rounded down
// (https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-reporteventw).
const maxEvent = 31000

// Text is the record for people, as the event log shows it.
func (r *Record) Text(path string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The node's check at its first boot: %s\r\n", r.Outcome)
	if r.Error != "" {
		fmt.Fprintf(&b, "%s\r\n", r.Error)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s %s: %s", f.Severity, f.ID, f.Object, f.Observed)
		if f.Expected != "" {
			fmt.Fprintf(&b, " (expected: %s)", f.Expected)
		}
		b.WriteString("\r\n")
	}
	fmt.Fprintf(&b, "All of it is in %s", path)
	// A character of Windows' log can't be 0, and a text that is too long would
	// not be written at all.
	text := []rune(strings.ReplaceAll(b.String(), "\x00", ""))
	return string(text[:min(len(text), maxEvent)])
}

// Write puts the record into its place at once: a machine that loses its power
// has the old one or this one.
func (r *Record) Write(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make a folder for the result: %w", err)
	}
	if err := atomicfs.WriteFile(path, append(data, '\n')); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
