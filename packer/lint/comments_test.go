package lint

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

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

// A script that writes an answer file isn't judged as one.
func TestAnswerInScript(t *testing.T) {
	dir := writeFiles(t, map[string]string{"w.pkr.hcl": "source \"amazon-ebs\" \"w\" {\n}\n" + provisioned("script = \"a.ps1\""), "a.ps1": "$x = @'\n" + setup("") + "\n'@\n& sysprep /generalize /oobe"})
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
