package firstboot

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/base/finding"
)

// booting is a machine whose Setup ends after a number of questions, and which
// keeps what was logged.
type booting struct {
	setup    int
	setupErr error
	logErr   error

	level Level
	id    uint32
	text  string
}

func (b *booting) Setup() (bool, string, error) {
	b.setup--
	return b.setup < 0, "IMAGE_STATE_SPECIALIZE_RESEAL_TO_OOBE", b.setupErr
}

func (b *booting) Log(level Level, id uint32, text string) error {
	b.level, b.id, b.text = level, id, text
	return b.logErr
}

func found(severities ...finding.Severity) []finding.Finding {
	var all []finding.Finding
	for _, s := range severities {
		all = append(all, finding.Finding{ID: "WIN005", Severity: s, Object: "service csi-proxy", Observed: "stopped", Expected: "running"})
	}
	return all
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		sys     booting
		looks   [][]finding.Finding // the last one is what stays
		err     error
		outcome string
		code    int
		level   Level
		id      uint32
		says    string
	}{
		"well":                 {looks: [][]finding.Finding{found(finding.Pass)}, outcome: "PASS", level: Information, id: 100, says: "first boot: PASS"},
		"Setup takes a while":  {sys: booting{setup: 3}, looks: [][]finding.Finding{found(finding.Pass)}, outcome: "PASS", level: Information, id: 100},
		"a service starts":     {looks: [][]finding.Finding{found(finding.Block), found(finding.Unknown), found(finding.Pass)}, outcome: "PASS", level: Information, id: 100},
		"it never does":        {looks: [][]finding.Finding{found(finding.Pass, finding.Block, finding.Warn)}, outcome: "BLOCK", code: 3, level: Error, id: 103, says: "BLOCK WIN005 service csi-proxy: stopped (expected: running)"},
		"it isn't told":        {looks: [][]finding.Finding{found(finding.Unknown)}, outcome: "UNKNOWN", code: 4, level: Error, id: 104},
		"a warning":            {looks: [][]finding.Finding{found(finding.Warn)}, outcome: "WARN", level: Warning, id: 102},
		"accepted":             {looks: [][]finding.Finding{found(finding.Info)}, outcome: "INFO", level: Information, id: 100},
		"Setup never ends":     {sys: booting{setup: 1e9}, outcome: Failed, code: 1, level: Error, id: 101, says: "IMAGE_STATE_SPECIALIZE_RESEAL_TO_OOBE"},
		"Setup isn't told":     {sys: booting{setupErr: errors.New("no such key")}, outcome: Failed, code: 1, level: Error, id: 101, says: "no such key"},
		"no expectation":       {err: errors.New("node.json can't be read"), outcome: Failed, code: 1, level: Error, id: 101, says: "node.json can't be read"},
		"well, and unheard of": {sys: booting{logErr: errors.New("the log is full")}, looks: [][]finding.Finding{found(finding.Pass)}, outcome: "PASS", code: 1, level: Information, id: 100},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new", "first-boot.json")
			looks := 0
			r, err := Run(t.Context(), &c.sys, Options{Verify: "v1", FailOn: finding.DefaultFailOn, Wait: 50 * time.Millisecond, Every: time.Millisecond, Result: path,
				Check: func(context.Context) (*Check, error) {
					looks++
					if c.err != nil {
						return nil, c.err
					}
					return &Check{Host: "n1", OS: "Windows 10.0.20348", Findings: c.looks[min(looks, len(c.looks))-1]}, nil
				}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Outcome != c.outcome || r.ExitCode != c.code || c.sys.level != c.level || c.sys.id != c.id || !strings.Contains(c.sys.text, c.says) {
				t.Errorf("have %+v, event %d %d:\n%s", r, c.sys.level, c.sys.id, c.sys.text)
			}
			if (c.sys.logErr != nil) != (r.EventLog != "") {
				t.Errorf("the record says %q of the event log", r.EventLog)
			}
			var back Record
			data, err := os.ReadFile(path)
			if err != nil || json.Unmarshal(data, &back) != nil {
				t.Fatal(err, string(data))
			}
			if back.APIVersion != APIVersion || back.Outcome != c.outcome || back.Findings == nil || back.Time.IsZero() {
				t.Errorf("the file has %+v", back)
			}
			for _, f := range back.Findings {
				if f.Severity == finding.Pass {
					t.Errorf("the file has what passed: %+v", f)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	path := filepath.Join(t.TempDir(), "first-boot.json")
	sys := &booting{setup: 1e9}
	cancel()
	_, err := Run(ctx, sys, Options{Wait: time.Hour, Every: time.Hour, Result: path})
	if _, there := os.Stat(path); !errors.Is(err, context.Canceled) || there == nil || sys.text != "" {
		t.Errorf("have %v, event %q", err, sys.text)
	}
}

func TestNowhereToWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sys := &booting{}
	_, err := Run(t.Context(), sys, Options{FailOn: finding.DefaultFailOn, Result: filepath.Join(file, "first-boot.json"), Check: func(context.Context) (*Check, error) { return &Check{}, nil }})
	if err == nil || sys.id != 100 {
		t.Errorf("have %v, event %d", err, sys.id)
	}
}

// An event holds no more than 31,839 characters, and none that is 0.
func TestLongText(t *testing.T) {
	r := Record{Outcome: "BLOCK", Findings: []finding.Finding{{Observed: strings.Repeat("\u00fc\x00", 40000)}}}
	text := r.Text("x")
	if n := utf8.RuneCountInString(text); n > maxEvent || strings.Contains(text, "\x00") || !utf8.ValidString(text) {
		t.Errorf("%d characters", n)
	}
}
