package printable

import (
	"strings"
	"testing"
)

func TestReference(t *testing.T) {
	for in, want := range map[string]string{
		"":                                          "",
		"quay.io/me/x:v1":                           "quay.io/me/x:v1",
		"quay.io/me/x:v1@sha256:ab":                 "quay.io/me/x:v1@sha256:ab",
		"quay.io/me/x@latest":                       "quay.io/me/x@latest",
		"user:pass@quay.io/me/x":                    "***@quay.io/me/x",
		"user:p@ss@quay.io/me/x@sha256:ab":          "***@quay.io/me/x@sha256:ab",
		"user:pa/ss@quay.io:443/me/x":               "***@quay.io:443/me/x",
		"token@quay.io/me/x":                        "***@quay.io/me/x",
		"user:pass@quay.io:5000":                    "***@quay.io:5000",
		"https://user:pass@quay.io/me/x":            "https://***@quay.io/me/x",
		"docker://user:pass@quay.io/me/x@sha256:ab": "docker://***@quay.io/me/x@sha256:ab",
	} {
		if got := Reference(in); got != want {
			t.Errorf("Reference(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{`C:\k\csi-proxy.exe`, `C:\k\csi-proxy.exe`},
		{"Ünïcode 日本語 🙂", "Ünïcode 日本語 🙂"},
		{"\x1b[31m", `\x1b[31m`},
		{"a\r\n\tb\x7f", `a\x0d\x0a\x09b\x7f`},
		{"\u009b31m", `\u009b31m`},
		{"\xff\xc3", `\xff\xc3`},
		{"\u202exe.txt", `\u202exe.txt`},
		{"\U000e0001", `\U000e0001`},
		{"\ufffd", "\ufffd"},
	} {
		if got := Line(tt.in); got != tt.want {
			t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestTextKeepsItsLines(t *testing.T) {
	if got, want := Text("a\n\tb\r\n\x1b[2J"), "a\n\tb\\x0d\n\\x1b[2J"; got != want {
		t.Errorf("Text gave %q, want %q", got, want)
	}
}

func TestNoCredentials(t *testing.T) {
	for in, want := range map[string]string{
		"clone of 'https://user:S3CRET@h/x' into 'y@z' failed": "clone of 'https://***@h/x' into 'y@z' failed",
		"http://S3CRET@h:80/x, https://h/x@v1":                 "http://***@h:80/x, https://h/x@v1",
		"ssh://git:S3CRET@h/x":                                 "ssh://git:***@h/x",
		"ssh://git@h/x git@h:x":                                "ssh://git@h/x git@h:x",
		"https://user:S3@CRET@h/x":                             "https://***@h/x",
	} {
		if got := NoCredentials(in); got != want {
			t.Errorf("%s became %s", in, got)
		}
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("x", 30)
	for in, want := range map[string]string{
		"one two three four five six": "one two three four|five six",
		"aaaaaaaaaaaaaaaaaaaaaa":      "aaaaaaaaaaaaaaaaaaaaaa",
		"aaaaaaaaaaaaaaaaaaaaaa b":    "aaaaaaaaaaaaaaaaaaaaaa|b",
		"a " + long + " b c":          "a|" + long + "|b c",
		long + " " + long:             long + "|" + long,
		"äöü äöü äöü äöü äöü äöü":     "äöü äöü äöü äöü äöü|äöü",
		"": "",
	} {
		if got := strings.Join(Wrap(in, 22), "|"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
