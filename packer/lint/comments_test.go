package lint

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/finding"
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
			if have := string(stripped(c.file, []byte(c.text))); strings.TrimRight(have, "\n ") != strings.TrimRight(c.want, "\n ") {
				t.Errorf("%q is %q, want %q", c.text, have, c.want)
			}
			if have := stripped(c.file, []byte(c.text)); strings.Count(string(have), "\n") < strings.Count(c.want, "\n") {
				t.Errorf("%q has lost lines: %q", c.text, have)
			}
		})
	}
}

// TestNothingIsDone: a step that isn't run isn't there, wherever it is spoken
// of; and the same step is, where it is run.
func TestNothingIsDone(t *testing.T) {
	const source = "source \"amazon-ebs\" \"w\" {\n}\n"
	answerFile := func(body string) map[string]string {
		return map[string]string{"w.pkr.hcl": fromCD("", "a/autounattend.xml"), "a/autounattend.xml": strings.Replace(setup(""), "<AutoLogon>", "<FirstLogonCommands>"+body+"</FirstLogonCommands><AutoLogon>", 1)}
	}
	done := func(severity finding.Severity, files map[string]string) theirs {
		return theirs{files, "template.sysprep", "sysprep", severity}
	}
	inline := func(lines string) map[string]string {
		return map[string]string{"w.pkr.hcl": source + provisioned("inline = ["+lines+"]")}
	}
	script := func(name, text string) map[string]string {
		return map[string]string{"w.pkr.hcl": source + provisioned("script = \""+name+"\""), name: text}
	}
	judge(t, map[string]theirs{
		"a block of comments":                 done(finding.Block, script("a.ps1", "<#\nsysprep /generalize /oobe\n#>\nb")),
		"behind a command":                    done(finding.Block, script("a.ps1", "b # sysprep /generalize /oobe")),
		"in a batch file":                     done(finding.Block, script("a.cmd", "b & rem sysprep /generalize /oobe")),
		"a script":                            done(finding.Pass, script("a.ps1", "# b\nsysprep /generalize /oobe")),
		"a block of HCL's":                    done(finding.Block, map[string]string{"w.pkr.hcl": source + "build {\n/*\n" + provisioned("inline = [\"sysprep /generalize /oobe\"]") + "*/\n}\n"}),
		"a description":                       done(finding.Block, map[string]string{"w.pkr.hcl": source + "variable \"a\" {\n  description = \"no sysprep /generalize /oobe\"\n}\nbuild {\n}\n"}),
		"a variable's name":                   done(finding.Block, map[string]string{"w.pkr.hcl": source + "variable \"sysprep\" {\n  default = \"b\"\n}\n" + provisioned("inline = [var.sysprep]")}),
		"a default that nothing runs":         done(finding.Block, map[string]string{"w.pkr.hcl": source + "variable \"a\" {\n  default = \"sysprep\"\n}\nbuild {\n}\n"}),
		"a default":                           done(finding.Pass, map[string]string{"w.pkr.hcl": source + "variable \"a\" {\n  default = \"sysprep\"\n}\n" + provisioned("inline = [\"${var.a} /generalize /oobe\"]")}),
		"a local":                             done(finding.Pass, map[string]string{"w.pkr.hcl": source + "locals {\n  a = [\"sysprep /generalize /oobe\"]\n}\n" + provisioned("inline = concat(local.a, [\"b\"])")}),
		"a local that nothing runs":           done(finding.Block, map[string]string{"w.pkr.hcl": source + "locals {\n  a = [\"sysprep /generalize /oobe\"]\n}\nbuild {\n}\n"}),
		"a machine's name":                    done(finding.Block, map[string]string{"w.pkr.hcl": "source \"amazon-ebs\" \"w\" {\n  ami_name = \"sysprep\"\n}\nbuild {\n}\n"}),
		"a path that a function makes":        done(finding.Pass, map[string]string{"w.pkr.hcl": source + provisioned("scripts = formatlist(\"${path.root}/s/%s.txt\", [\"a\"])"), "s/a.txt": "sysprep /generalize /oobe"}),
		"a script's name":                     done(finding.Block, script("sysprep.ps1", "b")),
		"inline":                              done(finding.Pass, inline(`"b", "sysprep /generalize /oobe"`)),
		"inline, in comments":                 done(finding.Block, inline(`"b # sysprep /generalize /oobe"`)),
		"inline, in a block":                  done(finding.Block, inline(`"<#", "sysprep", "#>"`)),
		"inline, beside what's unknown":       done(finding.Pass, map[string]string{"w.pkr.hcl": source + "variable \"a\" {}\n" + provisioned("inline = [\"sysprep /generalize /oobe /unattend:${var.a}\"]")}),
		"a file that nothing calls":           done(finding.Block, map[string]string{"w.pkr.hcl": source + "build {\n  provisioner \"file\" {\n    content = file(\"${path.root}/a.ps1\")\n    destination = \"C:/a.ps1\"\n  }\n}\n", "a.ps1": "sysprep /generalize /oobe"}),
		"a file that is called":               done(finding.Pass, map[string]string{"w.pkr.hcl": source + "build {\n  provisioner \"file\" {\n    source = \"a.ps1\"\n    destination = \"C:/b.ps1\"\n  }\n" + provisioned("inline = [\"& C:/b.ps1\"]")[8:], "a.ps1": "sysprep /generalize /oobe"}),
		"its content, in comments":            done(finding.Block, map[string]string{"w.pkr.hcl": source + "build {\n  provisioner \"file\" {\n    content = \"b <# sysprep /generalize /oobe #>\"\n    destination = \"C:/a.ps1\"\n  }\n}\n"}),
		"a file by its name on the CD":        done(finding.Block, map[string]string{"w.pkr.hcl": "source \"qemu\" \"w\" {\n  cd_content = {\n    \"a.ps1\" = \"b # sysprep /generalize /oobe\"\n    \"autounattend.xml\" = file(\"a.xml\")\n  }\n}\nbuild {\n}\n", "a.xml": setup("")}),
		"a dynamic provisioner":               done(finding.Pass, map[string]string{"w.pkr.hcl": source + "build {\n  dynamic \"provisioner\" {\n    for_each = [1]\n    labels = [\"powershell\"]\n    content {\n      inline = [\"sysprep /generalize /oobe\"]\n    }\n  }\n}\n"}),
		"an answer file's command":            done(finding.Pass, answerFile("<SynchronousCommand><CommandLine>sysprep /generalize /oobe</CommandLine></SynchronousCommand>")),
		"an answer file's comment":            done(finding.Block, answerFile("<!-- <SynchronousCommand><CommandLine>sysprep /generalize /oobe</CommandLine></SynchronousCommand> -->")),
		"an answer file's description":        done(finding.Block, answerFile("<SynchronousCommand><Description>sysprep /generalize /oobe</Description><CommandLine>b</CommandLine></SynchronousCommand>")),
		"a script that a comment runs":        done(finding.Block, withFile(answerFile("<!-- a.cmd -->"), "a.cmd", "sysprep /generalize /oobe")),
		"a script of an answer file's":        done(finding.Pass, withFile(answerFile("<SynchronousCommand><CommandLine>a.cmd</CommandLine></SynchronousCommand>"), "a.cmd", "sysprep /generalize /oobe")),
		"a script that writes an answer file": done(finding.Pass, script("a.ps1", "$x = @'\n"+setup("")+"\n'@\nsysprep /generalize /oobe /unattend:$x")),
		"one that does nothing else":          done(finding.Block, script("a.ps1", "$x = @'\n"+setup("")+"\n'@\n# sysprep /generalize /oobe")),
		"inline that writes an answer file":   done(finding.Pass, map[string]string{"w.pkr.hcl": source + provisioned("inline = [<<-E\n$x = @'\n"+answerText+"\n'@\nsysprep /generalize /oobe\nE\n]")}),
		"a batch file that writes one":        done(finding.Pass, script("a.cmd", "echo ^<unattend^> "+answerText+"> u.xml\nsysprep /generalize /oobe")),
		"user data that writes one":           done(finding.Pass, map[string]string{"w.pkr.hcl": "source \"amazon-ebs\" \"w\" {\n  user_data_file = \"userdata\"\n}\n", "userdata": "<powershell>\n$x = '" + answerText + "'\nsysprep /generalize /oobe\n</powershell>"}),
		"VMware Tools by their setup": {answerFile("<SynchronousCommand><Description>Tools</Description><CommandLine>D:\\setup64.exe /S /v/qn</CommandLine></SynchronousCommand>"),
			"template.checklist", "vmware-tools", finding.Pass},
		"a sum in a comment": {script("a.ps1", "# sha256\nInvoke-WebRequest https://example.com/a -OutFile a"), "template.download", "a.ps1", finding.Warn},
	})
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
		if have := isAnswer(c.file, []byte(c.text)); have != c.want {
			t.Errorf("%s: %t, want %t", name, have, c.want)
		}
	}
}

// A script that writes an answer file isn't judged as one.
func TestAnswerInScript(t *testing.T) {
	dir := laidOut(t, map[string]string{"w.pkr.hcl": "source \"amazon-ebs\" \"w\" {\n}\n" + provisioned("script = \"a.ps1\""), "a.ps1": "$x = @'\n" + setup("") + "\n'@\n& sysprep /generalize /oobe"})
	for _, f := range check(t, dir, Options{}) {
		if f.ID == "template.answer" && f.Object == "a.ps1" {
			t.Errorf("have %+v", f)
		}
	}
}

func withFile(files map[string]string, name, text string) map[string]string {
	files[name] = text
	return files
}
