package agent

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const header = "Log file created at: 2026/11/21 08:00:00\nRunning on machine: NODE\nLog line format: [IWEF]mmdd\n"

func line(v string) string { return "I1121 08:00:00.000000    1 main.go:60] Version: " + v + "\n" }

func TestScanLog(t *testing.T) {
	noise := strings.Repeat("I1121 08:00:00.000000    1 server.go:1] Request: PathExists\n", 40000) // more than one buffer
	for name, c := range map[string]struct {
		log, want string
		notYet    bool
	}{
		"one start":               {header + line("v1.1.3"), "v1.1.3", false},
		"after much else":         {header + line("v1.1.3") + noise, "v1.1.3", false},
		"the last start counts":   {header + line("v1.1.3") + noise + header + noise + line("v1.3.0\r") + noise, "v1.3.0", false},
		"started, not flushed":    {header + line("v1.1.3") + noise + header, "", true},
		"cut in the line":         {header + "I1121 main.go:60] Version: v1.3", "", true},
		"empty":                   {"", "", true},
		"no header, as in stderr": {line("v1.3.0"), "v1.3.0", false},
		"a line of two buffers":   {header + line("v1.3.0") + strings.Repeat("x", 2<<20) + "\n", "v1.3.0", false},
	} {
		for way, r := range map[string]io.Reader{"whole": strings.NewReader(c.log), "halves": iotest.HalfReader(strings.NewReader(c.log))} {
			got, err := scanLog(r)
			if got != c.want || errors.Is(err, errNotYet) != c.notYet {
				t.Errorf("%s, %s: %q, %v", name, way, got, err)
			}
		}
	}
}

func FuzzScanLog(f *testing.F) {
	f.Add(header + line("v1.3.0"))
	f.Add("] Version: ")
	f.Fuzz(func(t *testing.T, log string) {
		v, err := scanLog(strings.NewReader(log))
		if (err == nil) != (v != "") && !strings.Contains(log, logVersion) {
			t.Errorf("%q, %v", v, err)
		}
		if v != "" && !strings.Contains(log, v) {
			t.Errorf("%q isn't in the log", v)
		}
	})
}
