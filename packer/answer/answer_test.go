package answer

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func build(t *testing.T) string {
	t.Helper()
	data, err := Build(BuildOptions{DriverFolders: []string{`x\amd64`}, FirstLogon: `powershell.exe -Command "& a"`})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func generalized(t *testing.T) string {
	t.Helper()
	data, err := Generalize(GeneralizeOptions{Specialize: "name.exe"})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOwnFilesHaveNoProblem(t *testing.T) {
	if p := Check([]byte(build(t)), false); len(p) > 0 {
		t.Errorf("autounattend.xml: %+v", p)
	}
	if p := Check([]byte(generalized(t)), true); len(p) > 0 {
		t.Errorf("unattend.xml: %+v", p)
	}
}

// What templatefile makes of both branches has one of each, and no directive.
func TestConditions(t *testing.T) {
	text := build(t)
	for _, part := range []string{"%{ if efi ~}", "%{ else ~}", "%{ if has_product_key ~}", "<Type>MSR</Type>", "<Active>true</Active>"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if n := strings.Count(text, "<DiskConfiguration>"); n != 2 {
		t.Errorf("%d layouts, want one for EFI and one for BIOS", n)
	}
	if ifs, ends := strings.Count(text, "%{ if "), strings.Count(text, "%{ endif "); ifs != ends || ifs != 3 {
		t.Errorf("%d ifs and %d endifs, want 3 of each", ifs, ends)
	}
}

func TestEveryPlaceholderIsListed(t *testing.T) {
	known := []string{VarImageKey, VarImageValue, VarLanguage, VarLocale, VarTimeZone, VarPassword, VarAutoLogon, VarProductKey}
	for _, m := range placeholder.FindAllString(build(t)+generalized(t), -1) {
		if name := m[2 : len(m)-1]; !slices.Contains(known, name) {
			t.Errorf("%s isn't a variable that Packer is given", m)
		}
	}
}

func TestGeneralizeKeepsNobodyLoggedOn(t *testing.T) {
	text := generalized(t)
	if strings.Contains(text, "<Enabled>true") || strings.Contains(text, VarAutoLogon) || strings.Contains(text, "FirstLogonCommands") {
		t.Errorf("somebody logs on by himself:\n%s", text)
	}
	if !strings.Contains(text, "<Enabled>false</Enabled>") {
		t.Errorf("no AutoLogon that is off:\n%s", text)
	}
	if strings.Contains(text, "ComputerName") {
		t.Errorf("Windows would name the machine over the command that does:\n%s", text)
	}
}

func TestCheckFindsFaults(t *testing.T) {
	good, left := build(t), generalized(t)
	for name, c := range map[string]struct {
		text       string
		generalize bool
		kind       Kind
		want       string
	}{
		"broken":          {strings.Replace(good, "</unattend>", "", 1), false, KindXML, "EOF"},
		"other root":      {strings.Replace(good, namespace, "urn:x", 1), false, KindXML, "urn:x"},
		"empty":           {`<unattend xmlns="` + namespace + `"></unattend>`, false, KindXML, "no <settings>"},
		"unknown pass":    {strings.Replace(good, `pass="oobeSystem"`, `pass="oobe"`, 1), false, KindPass, `no pass "oobe"`},
		"other pass":      {strings.Replace(good, `pass="windowsPE"`, `pass="generalize"`, 1), false, KindPass, "doesn't read Microsoft-Windows-International-Core-WinPE"},
		"misspelt":        {strings.Replace(good, "Microsoft-Windows-SQMApi", "Microsoft-Windows-SQM", 1), false, KindUnknown, "Microsoft-Windows-SQM"},
		"32 bits":         {strings.ReplaceAll(good, `"amd64"`, `"x86"`), false, KindIdentity, `processorArchitecture="x86"`},
		"other key":       {strings.Replace(good, publicKey, "deadbeef", 1), false, KindIdentity, `publicKeyToken="deadbeef"`},
		"no key":          {strings.Replace(good, `publicKeyToken="`+publicKey+`"`, "", 1), false, KindIdentity, `publicKeyToken=""`},
		"a language":      {strings.Replace(good, `language="neutral"`, `language="en-US"`, 1), false, KindIdentity, `language="en-US"`},
		"a scope":         {strings.Replace(good, `versionScope="nonSxS"`, `versionScope="SxS"`, 1), false, KindIdentity, `versionScope="SxS"`},
		"no machine":      {strings.Replace(good, `processorArchitecture="amd64"`, "", 1), false, KindIdentity, `processorArchitecture=""`},
		"autologon stays": {strings.Replace(left, "<Enabled>false", "<Enabled>true", 1), true, KindAutoLogon, "logs the administrator on"},
		"password":        {strings.Replace(left, "${password}", "Passw0rd!", 1), true, KindPassword, "is written into the file"},
		"a name":          {strings.Replace(strings.Replace(left, "oobeSystem", "specialize", 1), "<OOBE>", "<ComputerName>golden</ComputerName><OOBE>", 1), true, KindName, "ComputerName is golden"},
	} {
		t.Run(name, func(t *testing.T) {
			found := Check([]byte(c.text), c.generalize)
			if !slices.ContainsFunc(found, func(p Problem) bool { return p.Kind == c.kind && strings.Contains(p.What, c.want) }) {
				t.Errorf("want %s %q, have %+v", c.kind, c.want, found)
			}
		})
	}
}

// Settings that aren't known here, and what templates have in front, are nobody's
// mistake.
func TestHarmless(t *testing.T) {
	good := build(t)
	for _, text := range []string{
		strings.Replace(good, "<OOBE>", "<OOBE><OEMAppId>a</OEMAppId><VMModeOptimizations><SkipWinREInitialization>true</SkipWinREInitialization></VMModeOptimizations>", 1),
		"%{ if true ~}\n" + good + "%{ endif ~}\n", "\ufeff" + good, strings.TrimPrefix(good, `<?xml version="1.0" encoding="UTF-8"?>`),
	} {
		if found := Check([]byte(text), false); len(found) > 0 {
			t.Errorf("%.60q: %+v", text, found)
		}
	}
}

// TestPlaceholders: what another tool fills in is no password and no name.
func TestPlaceholders(t *testing.T) {
	for text, want := range map[string]bool{"${password}": false, "{{ .Password }}": false, "@@PASSWORD@@": false, "%PASSWORD%": false, "__PASSWORD__": false, "$PASSWORD$": false, "Passw0rd!": true, "pa$$word": true, "50%": true} {
		found := Check([]byte(strings.Replace(generalized(t), "${password}", text, 1)), true)
		if has := len(found) > 0; has != want {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

func TestCheckSaysTheLine(t *testing.T) {
	found := Check([]byte("<?xml version=\"1.0\"?>\n%{ if a\n ~}\n<nothing/>"), false)
	if len(found) != 1 || found[0].Line != 4 {
		t.Errorf("want line 4, have %+v", found)
	}
}

// Files for several machines have each component once for each of them.
func TestOtherMachinesBesideOurs(t *testing.T) {
	good := build(t)
	from, to := strings.Index(good, "<component"), strings.Index(good, "</component>")+len("</component>")
	other := strings.Replace(good[from:to], `"amd64"`, `"x86"`, 1)
	if found := Check([]byte(good[:from]+other+good[from:]), false); len(found) > 0 {
		t.Errorf("have %+v", found)
	}
}

// Anyone who fills in a template may fill in these as well.
func TestIdentityByPlaceholder(t *testing.T) {
	text := strings.ReplaceAll(strings.ReplaceAll(build(t), `"amd64"`, `"${arch}"`), publicKey, "${key}")
	if found := Check([]byte(text), false); len(found) > 0 {
		t.Errorf("have %+v", found)
	}
}

// encoded is a password as Windows reads it where PlainText is false: base64
// of UTF-16LE of the password and the suffix, one of the Suffix constants.
func encoded(password, suffix string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(password + suffix)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// From Microsoft's System Image Manager: "Passw0rd" as AdministratorPassword.
func TestEncoded(t *testing.T) {
	const want = "UABhAHMAcwB3ADAAcgBkAEEAZABtAGkAbgBpAHMAdAByAGEAdABvAHIAUABhAHMAcwB3AG8AcgBkAA=="
	if got := encoded("Passw0rd", PasswordSuffix); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// FuzzCheck: whatever is read, Check ends and a file that it calls XML is.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`<unattend xmlns="urn:schemas-microsoft-com:unattend"><settings pass="x"/></unattend>`))
	f.Add([]byte("\xff\xfe<\x00a\x00/\x00>\x00"))
	f.Add([]byte("%{ if a }<a>${b}</a>%{ endif }"))
	f.Fuzz(func(t *testing.T, data []byte) {
		found := Check(data, true)
		text, err := Text(data)
		if err == nil {
			_, _, err = parse(variants(text)[0])
		}
		if len(found) == 0 && err != nil {
			t.Errorf("%q has no problem, and isn't XML", data)
		}
	})
}
