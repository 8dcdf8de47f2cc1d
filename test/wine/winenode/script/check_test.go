package script

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Write-Output \"a\"\n":                    "",
		"# it's a comment\n<# \" #> a#b":          "",
		"\"a `\" b \"\" $(if ($x) { \"(\" }) c\"": "",
		"'a \" '' $('":                            "",
		"@\"\n\" $(1)\n\"@\n@'\n'a\n'@\n":         "",
		"cmd /c \"a && b\"; cmd --% /c a && b\n":  "",
		"$a = ${a(b} # {":                         "",
		"dir ??.txt `(":                           "",
		"@{ a = @(1, 2) }.a | ? { $_ -gt 1 }":     "",
		"throw \"broken\n":                        `1:7: The string is missing the terminator: ".`,
		"a\nb 'c":                                 "2:3: The string is missing the terminator: '.",
		"@'\n'a'@\n":                              "1:1: The string is missing the terminator: '@.",
		"@' a\n'@\n":                              "1:1: No characters are allowed after a here-string header but before the end of the line.",
		"<# a":                                    "1:1: The terminator '#>' is missing from the multiline comment.",
		"if ($x) {\n  a\n":                        "1:9: Missing closing '}' in statement block or type definition.",
		"if ($x {\n a }\n":                        "1:4: Missing closing ')' in expression.",
		"a }\n":                                   "1:3: Unexpected token '}' in expression or statement.",
		"{ ( }":                                   "1:3: Missing closing ')' in expression.",
		"\"$(a\"":                                 `1:5: The string is missing the terminator: ".`,
		"a && b":                                  "1:3: The token '&&' is not a valid statement separator in this version.",
		"$a ?? 1":                                 "1:4: Unexpected token '??' in expression or statement.",
		Decode([]byte("Write-Output \"a \u2013 b\"\n")): "1:22: The string is missing the terminator: \".",
		Decode([]byte("\ufeffWrite-Output \"\u2013\"")): "",
		Decode([]byte("\xff\xfea\x00}\x00")):            "1:2: Unexpected token '}' in expression or statement.",
	} {
		said := ""
		if wrong := Check(text); wrong != nil {
			said = wrong.Error()
		}
		if said != want {
			t.Errorf("%q: have %q, want %q", text, said, want)
		}
	}
}

// TestOurScripts: what the templates bring passes.
func TestOurScripts(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("../../../../packer/template/scripts/*.ps1")
	if err != nil || len(scripts) < 20 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, name := range scripts {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := Check(Decode(data)); wrong != nil {
			t.Errorf("%s: %v", name, wrong)
		}
	}
}

func TestCalled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args       []string
		file, text string
	}{
		{[]string{"-NoProfile", "-ExecutionPolicy", "Bypass", "-File", `C:\a.ps1`, "-Name", "x"}, `C:\a.ps1`, ""},
		{[]string{"-c", "exit", "0"}, "", "exit 0"},
		{[]string{"Get-Disk", "-Number", "1"}, "", "Get-Disk -Number 1"},
		{[]string{"-enc", "ZQB4AGkAdAA="}, "", "exit"},
		{[]string{"-ep", "bypass", "/f", "a.ps1"}, "a.ps1", ""},
	} {
		if file, text := Called(c.args); file != c.file || text != c.text {
			t.Errorf("%v: have %q and %q", c.args, file, text)
		}
	}
}
