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
		"broken":             {strings.Replace(good, "</unattend>", "", 1), false, KindXML, "EOF"},
		"other root":         {strings.Replace(good, namespace, "urn:x", 1), false, KindXML, "urn:x"},
		"empty":              {`<unattend xmlns="` + namespace + `"></unattend>`, false, KindXML, "no <settings>"},
		"unknown pass":       {strings.Replace(good, `pass="oobeSystem"`, `pass="oobe"`, 1), false, KindPass, `no pass "oobe"`},
		"other pass":         {strings.Replace(good, `pass="windowsPE"`, `pass="generalize"`, 1), false, KindPass, "doesn't read Microsoft-Windows-International-Core-WinPE"},
		"another pass's":     {strings.Replace(left, "<OOBE>", "<ComputerName>*</ComputerName><OOBE>", 1), true, KindPass, "doesn't read ComputerName in the pass oobeSystem, only in specialize"},
		"misspelt":           {strings.Replace(good, "Microsoft-Windows-SQMApi", "Microsoft-Windows-SQM", 1), false, KindUnknown, "Microsoft-Windows-SQM"},
		"32 bits":            {strings.ReplaceAll(good, `"amd64"`, `"x86"`), false, KindIdentity, `for "x86"`},
		"other key":          {strings.Replace(good, publicKey, "deadbeef", 1), false, KindIdentity, `publicKeyToken="deadbeef"`},
		"no key":             {strings.Replace(good, `publicKeyToken="`+publicKey+`"`, "", 1), false, KindIdentity, `publicKeyToken=""`},
		"a language":         {strings.Replace(good, `language="neutral"`, `language="en-US"`, 1), false, KindIdentity, `language="en-US"`},
		"a scope":            {strings.Replace(good, `versionScope="nonSxS"`, `versionScope="SxS"`, 1), false, KindIdentity, `versionScope="SxS"`},
		"no machine":         {strings.Replace(good, `processorArchitecture="amd64"`, "", 1), false, KindIdentity, `for ""`},
		"unbound prefix":     {strings.Replace(good, ` xmlns:wcm="`+wcmNamespace+`"`, "", 1), false, KindXML, "prefix of wcm:action"},
		"bound elsewhere":    {strings.Replace(strings.Replace(good, ` xmlns:wcm="`+wcmNamespace+`"`, "", 1), "<DriverPaths>", `<DriverPaths xmlns:wcm="`+wcmNamespace+`">`, 1), false, KindXML, "prefix of wcm:action"},
		"unbound element":    {strings.Replace(good, "<OOBE>", "<a:b></a:b><OOBE>", 1), false, KindXML, "prefix of a:b"},
		"twice":              {strings.Replace(good, `language="neutral"`, `language="neutral" language="neutral"`, 1), false, KindXML, "language twice"},
		"two roots":          {good + "<unattend/>", false, KindXML, "<unattend> stands behind"},
		"autologon stays":    {strings.Replace(left, "<Enabled>false", "<Enabled>true", 1), true, KindAutoLogon, "logs the administrator on"},
		"password":           {strings.Replace(left, "${password}", "Passw0rd!", 1), true, KindPassword, "is written into the file"},
		"a blank line":       {"\n" + good, false, KindXML, "before <?xml"},
		"a comment first":    {"<!-- a -->\n" + good, false, KindXML, "before <?xml"},
		"a misspelt setting": {strings.Replace(strings.Replace(left, "<HideEULAPage>", "<HideEULAPages>", 1), "</HideEULAPage>", "</HideEULAPages>", 1), true, KindSetup, "<HideEULAPage> is meant"},
		"a command as path":  {strings.NewReplacer("<CommandLine>", "<Path>", "</CommandLine>", "</Path>").Replace(good), false, KindSetup, "<SynchronousCommand> has no <Path>, only CommandLine, Description, Order, RequiresUserInput"},
		"letter":             {strings.Replace(good, "powershell.exe", `A:\setup.exe`, 1), false, KindLetter, "drive A:"},
	} {
		t.Run(name, func(t *testing.T) {
			found := Check([]byte(c.text), c.generalize)
			if !slices.ContainsFunc(found, func(p Problem) bool { return p.Kind == c.kind && strings.Contains(p.What, c.want) }) {
				t.Errorf("want %s %q, have %+v", c.kind, c.want, found)
			}
		})
	}
}

// Names that aren't listed, and what templates have in front, are nobody's mistake.
func TestHarmlessNames(t *testing.T) {
	good := build(t)
	for _, text := range []string{
		strings.Replace(good, "<OOBE>", "<OOBE><OEMAppId>a</OEMAppId><VMModeOptimizations><SkipWinREInitialization>true</SkipWinREInitialization></VMModeOptimizations>", 1),
		"%{ if true ~}\n" + good + "%{ endif ~}\n", "\ufeff" + good, strings.TrimPrefix(good, `<?xml version="1.0" encoding="UTF-8"?>`),
	} {
		if found := Check([]byte(text), false); len(found) > 0 {
			t.Errorf("%.60q: %+v", text, found)
		}
	}
	for _, name := range names {
		if meant := misspelt(name); meant != "" {
			t.Errorf("%s for %s", meant, name)
		}
	}
	for name, want := range map[string]string{"HideEULAPag": "HideEULAPage", "hideEULAPage": "HideEULAPage", "Timezone": "TimeZone", "SkipMachineOOBB": "SkipMachineOOBE", "Username": "", "Path": "", "Description": ""} {
		if have := misspelt(name); have != want {
			t.Errorf("%s: %q, want %q", name, have, want)
		}
	}
}

// A search of all drives takes none of them for granted.
func TestSearchedLetters(t *testing.T) {
	for line, want := range map[string]bool{
		`cmd /c for %x in (D E F G) do if exist %x:\setup.cmd call %x:\setup.cmd`: false,
		`cmd /c "for %%d in (D E) do %%d:/setup.cmd"`:                             false,
		`powershell "foreach ($d in 'D','E') { &amp; \"$d:\setup.ps1\" }"`:        false,
		`cmd /c for %x in (a.cmd b.cmd) do call E:\%x`:                            true,
		`E:/setup.exe`: true,
		`cmd /c for %x in (D E F G) do if exist %x:\setup.cmd copy "D:\setup.cmd" C:`: true,
	} {
		found := Check([]byte(strings.Replace(build(t), "powershell.exe", line, 1)), false)
		if is := slices.ContainsFunc(found, func(p Problem) bool { return p.Kind == KindLetter }); is != want {
			t.Errorf("%s: %+v", line, found)
		}
	}
}

// Two letters on one line are told in one order.
func TestLettersInOneLine(t *testing.T) {
	text := strings.Replace(build(t), "powershell.exe", `a:\b.exe</CommandLine><CommandLine>b:\c.exe</CommandLine><CommandLine>e:\d.exe`, 1)
	text = strings.ReplaceAll(text, "\n", " ")
	first := Check([]byte(text), false)
	if n := len(slices.DeleteFunc(slices.Clone(first), func(p Problem) bool { return p.Kind != KindLetter })); n < 3 {
		t.Fatalf("%+v", first)
	}
	for range 50 {
		if found := Check([]byte(text), false); !slices.Equal(found, first) {
			t.Fatalf("%+v\nand before\n%+v", found, first)
		}
	}
}

func TestCheckSaysTheLine(t *testing.T) {
	found := Check([]byte("<?xml version=\"1.0\"?>\n%{ if a\n ~}\n<nothing/>"), false)
	if len(found) != 1 || found[0].Line != 4 {
		t.Errorf("want line 4, have %+v", found)
	}
}

// An unbound prefix is one mistake, at the first place of it.
func TestPrefixIsSaidOnce(t *testing.T) {
	text := strings.Replace(build(t), ` xmlns:wcm="`+wcmNamespace+`"`, "", 1)
	before, _, _ := strings.Cut(text, "wcm:")
	found := Check([]byte(text), false)
	if want := 1 + strings.Count(before, "\n"); len(found) != 1 || found[0].Line != want {
		t.Errorf("want one at line %d, have %+v", want, found)
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

func TestCommands(t *testing.T) {
	if have := Commands([]byte(build(t))); !slices.Equal(have, []string{`powershell.exe -Command "& a"`}) {
		t.Errorf("autounattend.xml: %q", have)
	}
	if have := Commands([]byte(generalized(t))); !slices.Equal(have, []string{"name.exe"}) {
		t.Errorf("unattend.xml: %q", have)
	}
	for _, text := range []string{"<a><Path>b</Path></a>", "<RunSynchronousCommand><!-- <Path>b</Path> --><Description>c</Description></RunSynchronousCommand>", "", "<", `<?xml version="1.0" encoding="x"?><SynchronousCommand><CommandLine>b</CommandLine></SynchronousCommand>`} {
		if have := Commands([]byte(text)); len(have) > 0 {
			t.Errorf("%q has %q", text, have)
		}
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
		if len(found) == 0 && (err != nil || decoder(text).Decode(new(struct{})) != nil) {
			t.Errorf("%q has no problem, and isn't XML", data)
		}
	})
}
