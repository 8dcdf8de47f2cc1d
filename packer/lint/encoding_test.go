package lint

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/winbake/winbake/internal/base/finding"
)

// TestEncodings: answer files and scripts are read in what Windows reads.
func TestEncodings(t *testing.T) {
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(`<?xml version="1.0" encoding="utf-16"?>` + setup(generalizePass))
	if err != nil {
		t.Fatal(err)
	}
	script, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("sysprep /generalize /oobe # ä")
	if err != nil {
		t.Fatal(err)
	}
	latin, err := charmap.ISO8859_1.NewEncoder().String(`<?xml version="1.0" encoding="iso-8859-1"?>` + strings.ReplaceAll(setup(""), "${password}", "Pä55"))
	if err != nil {
		t.Fatal(err)
	}
	of := func(text string, severity finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": fromCD("", "a/unattend.xml"), "a/unattend.xml": text}, "template.answer", "a/unattend.xml", severity}
	}
	judge(t, map[string]theirs{
		"UTF-16":            of(utf16, finding.Block), // AutoLogon, which only its text tells
		"UTF-16 as UTF-8":   {map[string]string{"w.pkr.hcl": fromCD("", "a/unattend.xml"), "a/unattend.xml": strings.Replace(utf16, "1\x006\x00", "8\x00", 1)}, "template.answer", "a/unattend.xml", finding.Block},
		"Latin 1":           of(latin, finding.Block),
		"Latin 1, good":     of(strings.ReplaceAll(latin, "P\xe455", "${password}"), finding.Pass),
		"not known here":    of(`<?xml version="1.0" encoding="Shift_JIS"?>`+setup(""), finding.Unknown),
		"a UTF-16 script":   {map[string]string{"w.pkr.hcl": "source \"amazon-ebs\" \"w\" {\n}\n" + provisioned("script = \"a.ps1\""), "a.ps1": script}, "template.sysprep", "sysprep", finding.Pass},
		"steps in UTF-16":   {map[string]string{"w.pkr.hcl": fromCD("", "a/autounattend.xml"), "a/autounattend.xml": utf16}, "template.sysprep", "sysprep", finding.Block},
		"nothing is untold": {map[string]string{"w.pkr.hcl": fromCD("", "a/autounattend.xml"), "a/autounattend.xml": utf16}, "template.answer", "", finding.Pass},
	})
}

// TestEncodingOfScripts: Windows PowerShell reads a script without a mark in front
// in Windows' own code page, in which a dash of UTF-8 has a quote in it.
func TestEncodingOfScripts(t *testing.T) {
	with := func(text, id, object string, want finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": "source \"azure-arm\" \"w\" {\n}\n" + provisioned(`script = "a.ps1"`), "a.ps1": text}, id, object, want}
	}
	judge(t, map[string]theirs{
		"bytes":                        with("\x00\x01$a\xfe = {", ruleScript, "a.ps1", finding.Block),
		"UTF-16 without a mark":        with("e\x00x\x00i\x00t\x00", ruleScript, "a.ps1", finding.Block),
		"a dash of UTF-8":              with("Write-Output \"a \u2013 b\"", ruleScript, "a.ps1", finding.Block),
		"one behind a mark":            with("\ufeffWrite-Output \"a \u2013 b\"", ruleScript, "a.ps1", finding.Pass),
		"an umlaut of Windows' own":    with("# f\xfcr\nInstall-WindowsFeature Containers", ruleStep, "containers-feature", finding.Pass),
		"an umlaut of UTF-8, remarked": with("# für\nInstall-WindowsFeature Containers", ruleStep, "containers-feature", finding.Pass),
	})
}
