package winsvc

import (
	"slices"
	"strings"
	"testing"
)

func TestCSIProxyIsWMCOsOwn(t *testing.T) {
	want := `C:\k\csi-proxy.exe -log_file=C:\var\log\csi-proxy\csi-proxy.log -logtostderr=false -windows-service --v=2`
	if got := CSIProxy().Command(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// From Microsoft's table of how a command line is taken apart, and what
// CommandLineToArgvW makes of runs of quotes.
func TestParseCommand(t *testing.T) {
	for line, want := range map[string][]string{
		`a.exe`:                        {`a.exe`},
		`"a b.exe" c`:                  {`a b.exe`, `c`},
		`"a b.exe"c d`:                 {`a b.exe`, `c`, `d`},
		`C:\x\ y`:                      {`C:\x\`, `y`},
		`"C:\x\" y`:                    {`C:\x\`, `y`},
		` a b`:                         {``, `a`, `b`},
		`x "abc" d e`:                  {`x`, `abc`, `d`, `e`},
		`x a\\b d"e f"g h`:             {`x`, `a\\b`, `de fg`, `h`},
		`x a\\\"b c d`:                 {`x`, `a\"b`, `c`, `d`},
		`x a\\\\"b c" d e`:             {`x`, `a\\b c`, `d`, `e`},
		`x a"b"" c d`:                  {`x`, `ab"`, `c`, `d`},
		`x ""`:                         {`x`, ``},
		`x """"`:                       {`x`, `"`},
		`x "a\\"`:                      {`x`, `a\`},
		`x a\`:                         {`x`, `a\`},
		"x\ta\tb":                      {`x`, `a`, `b`},
		`x "unclosed and more`:         {`x`, `unclosed and more`},
		`x --cert-dir=c:\var\pki\ --y`: {`x`, `--cert-dir=c:\var\pki\`, `--y`},
	} {
		if got, err := ParseCommand(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s\n got %q, %v\nwant %q", line, got, err, want)
		}
	}
	for _, line := range []string{"", `"a.exe`, "a\x00b"} {
		if got, err := ParseCommand(line); err == nil {
			t.Errorf("%q was read as %q", line, got)
		}
	}
}

func TestQuoteArgument(t *testing.T) {
	for arg, want := range map[string]string{
		`a`: `a`, ``: `""`, `a b`: `"a b"`, `a"b`: `"a\"b"`, `a\`: `a\`, `a b\`: `"a b\\"`, `a\"b`: `"a\\\"b"`, `\\x\y z\`: `"\\x\y z\\"`,
	} {
		if got := QuoteArgument(arg); got != want {
			t.Errorf("%s: %s, want %s", arg, got, want)
		}
	}
}

func FuzzCommandRoundTrip(f *testing.F) {
	for _, seed := range [][3]string{
		{`C:\k\x.exe`, "-a", `b c`}, {`C:\Program Files\x.exe`, `"`, `\`}, {`x`, "", `a\\" "b\`}, {"x", "\t", "\n"}, {`C:\ü\x.exe`, `ä "ö"`, `""" """`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, path, a, b string) {
		if strings.ContainsAny(path+a+b, "\x00") || strings.ContainsAny(path, `"`) {
			return // neither can be in a command line, or a path
		}
		want := []string{path, a, b}
		line := Service{Path: path, Arguments: want[1:]}.Command()
		got, err := ParseCommand(line)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s\n got %q, %v\nwant %q", line, got, err, want)
		}
	})
}

// FuzzParseCommand takes any line apart and puts it together again: what is
// read the second time is what was read the first.
func FuzzParseCommand(f *testing.F) {
	f.Add(`C:\k\csi-proxy.exe -log_file=C:\var\log\x.log --v=2`)
	f.Add(`"a b" """c "d\\" e\"f`)
	f.Fuzz(func(t *testing.T, line string) {
		first, err := ParseCommand(line)
		if err != nil {
			return
		}
		if strings.Contains(first[0], `"`) {
			return // a path can't have one: such a line names no program
		}
		again, err := ParseCommand(Service{Path: first[0], Arguments: first[1:]}.Command())
		if err != nil || !slices.Equal(first, again) {
			t.Errorf("%q: %q, then %q, %v", line, first, again, err)
		}
	})
}
