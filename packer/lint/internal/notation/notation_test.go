package notation

import (
	"strings"
	"testing"
)

func TestStripped(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"PowerShell's block":          {"a.ps1", "a <# x\ny #> b", "a \n b"},
		"a block without an end":      {"a.ps1", "a <# x", "a "},
		"behind a command":            {"a.ps1", "a # x\nb", "a \nb"},
		"behind a bracket":            {"a.ps1", "if (a) {# x\nb }", "if (a) {\nb }"},
		"in a word":                   {"a.ps1", "a#b $c[1]#d", "a#b $c[1]#d"},
		"in a string":                 {"a.ps1", `'a # b' "c # d"`, `'a # b' "c # d"`},
		"behind a doubled quote":      {"a.ps1", "'a''b' # x", "'a''b' "},
		"behind an escaped quote":     {"a.ps1", "\"a`\" # b\" # x", "\"a`\" # b\" "},
		"escaped":                     {"a.ps1", "a `# b", "a `# b"},
		"in a string's code":          {"a.ps1", `"$(f "a # b") # c" # x`, `"$(f "a # b") # c" `},
		"in a here-string":            {"a.ps1", "@'\na # b 'c\n'@ # x", "@'\na # b 'c\n'@ "},
		"in one with variables":       {"a.ps1", "@\"\r\na # b\r\n\"@\r\nc # x\r\n", "@\"\r\na # b\r\n\"@\r\nc \n"},
		"a bracket too many":          {"a.ps1", "a) # x\nb", "a) \nb"},
		"a template of PowerShell":    {"a.ps1.pkrtpl.hcl", "a # x", "a "},
		"user data of a cloud":        {"userdata", "<powershell>\na # x\n</powershell>", "<powershell>\na \n</powershell>"},
		"a batch file's":              {"a.cmd", "@REM x\na & rem x\n:: x\necho remains\n", "\na &\n\necho remains\n"},
		"XML":                         {"a.xml", "<a><!-- x\n --><b/></a>", "<a>\n<b/></a>"},
		"XML without an end":          {"a", "<?xml?><a><!-- x", "<?xml?><a>"},
		"HCL's block":                 {"a.pkr.hcl", "a = 1 /* x\ny */\n", "a = 1     \n    \n"},
		"HCL's lines":                 {"a.pkr.hcl", "a = \"# b // c\" // x\n# y\n", "a = \"# b // c\"     \n\n"},
		"a script in HCL":             {"a.pkr.hcl", "a = <<E\n# x\nb\nE\n", "a = <<E\n\nb\nE\n"},
		"a file of an unknown format": {"a.conf", "# x\na = 1\n; b <# c #>\n", "\na = 1\n; b \n"},
	} {
		t.Run(name, func(t *testing.T) {
			if have := string(Stripped(c.file, []byte(c.text))); strings.TrimRight(have, "\n ") != strings.TrimRight(c.want, "\n ") {
				t.Errorf("%q is %q, want %q", c.text, have, c.want)
			}
			if have := Stripped(c.file, []byte(c.text)); strings.Count(string(have), "\n") < strings.Count(c.want, "\n") {
				t.Errorf("%q has lost lines: %q", c.text, have)
			}
		})
	}
}

// answerText is an answer file without anything that HCL reads.
const answerText = `<unattend xmlns='urn:schemas-microsoft-com:unattend'/>`

// TestIsAnswer: an answer file is told by its name or its beginning, a script
// that holds one isn't one.
func TestIsAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       bool
	}{
		"by its element":             {"a", answerText, true},
		"by its declaration":         {"a", "<?xml version=\"1.0\"?>\n" + answerText, true},
		"behind a mark and blanks":   {"a", "\uFEFF\r\n " + answerText, true},
		"behind a comment":           {"a", "<!-- x -->" + answerText, true},
		"behind a template's words":  {"a.pkrtpl.hcl", "%{ if a ~}\n${b}{{ .C }}\n" + answerText, true},
		"with a prefix":              {"a", "<u:unattend xmlns:u='urn:schemas-microsoft-com:unattend'/>", true},
		"a template's XML":           {"a.xml.tpl", "%s" + answerText, true},
		"other XML":                  {"a.xml", "<?xml version=\"1.0\"?><a/>", false},
		"a script":                   {"a.ps1", "$x = '" + answerText + "'", false},
		"a script's template":        {"a.ps1.tftpl", "${a}\n" + answerText, false},
		"a batch file":               {"A.CMD", answerText, false},
		"a script without an ending": {"a", "cat > u.xml <<E\n" + answerText + "\nE", false},
		"user data":                  {"a", "<powershell>" + answerText + "</powershell>", false},
	} {
		if have := IsAnswer(c.file, []byte(c.text)); have != c.want {
			t.Errorf("%s: %t, want %t", name, have, c.want)
		}
	}
}
