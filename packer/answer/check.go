package answer

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Kind tells problems apart.
type Kind string

// The kinds of problems.
const (
	KindXML       Kind = "xml"       // Windows Setup can't read the file
	KindPass      Kind = "pass"      // a pass, or a component in it, that Windows passes over
	KindIdentity  Kind = "identity"  // a component by attributes that none of Windows has
	KindUnknown   Kind = "component" // a component that isn't known here
	KindEncoding  Kind = "encoding"  // an encoding that isn't read here
	KindAutoLogon Kind = "autologon" // left on in a file that stays in the image
	KindPassword  Kind = "password"  // written into the file
	KindLetter    Kind = "letter"    // a fixed drive letter
	KindSetup     Kind = "setup"     // something that Windows Setup asks for
	KindDisk      Kind = "disk"      // a disk that Windows Setup can't make, or installs onto wrongly
)

// Problem is one thing that is wrong with an answer file.
type Problem struct {
	Kind Kind
	Line int // 0 for the whole file
	What string
}

var (
	comment     = regexp.MustCompile(`(?s)<!--.*?-->`)
	fixedLetter = regexp.MustCompile(`(?i)(?:^|[^\w%$])([ABD-Z]):[\\/]`) // %d: and $d: are variables
)

// Check reads an answer file, or a template of one for Packer's templatefile,
// and returns what is wrong with it. generalize says that the file is given to
// sysprep and stays in the image.
func Check(data []byte, generalize bool) []Problem {
	text, err := Text(data)
	if _, other := errors.AsType[*EncodingError](err); other {
		return []Problem{{KindEncoding, 1, err.Error()}}
	}
	if err != nil {
		return []Problem{{KindXML, 1, err.Error()}}
	}
	c := &checker{generalize: generalize, letters: map[string][]int{}, amd64: map[string]bool{}, unbound: map[string]bool{}}
	file, err := parse(text)
	file.walk(c.element)
	if err != nil {
		return append(c.problems, Problem{KindXML, file.line, err.Error()})
	}
	if len(c.problems) == 0 && c.settings == 0 {
		c.add(file.line, KindXML, "there is no <settings> in it")
	}
	if before, _, found := bytes.Cut(text, []byte("<?xml")); found && len(before) > 0 && len(bytes.TrimSpace(comment.ReplaceAll(before, nil))) == 0 {
		c.add(1, KindXML, "something stands before <?xml, which is only read at a file's start")
	}
	for _, o := range c.others { // beside one for this machine it is passed over, as in files for several
		if !c.amd64[o.component+" "+o.pass] {
			c.add(o.line, KindIdentity, "%s is for %q, and Windows Server is amd64", o.component, o.architecture)
		}
	}
	c.installation(text)
	c.fixedLetters()
	return c.problems
}

type checker struct {
	generalize bool
	problems   []Problem
	unbound    map[string]bool // prefixes that were spoken of
	pass       string
	settings   int
	letters    map[string][]int // letters of driver paths by the path behind
	amd64      map[string]bool  // components for this machine, with their pass
	others     []other
}

// other is a component for another machine than Windows Server's.
type other struct {
	component, pass, architecture string
	line                          int
}

func (c *checker) add(line int, k Kind, format string, args ...any) {
	c.problems = append(c.problems, Problem{k, line, fmt.Sprintf(format, args...)})
}

func (c *checker) element(e *tree) {
	c.namespaces(e)
	name := e.start.Name
	switch {
	case e.depth == 0 && e != e.parent.kids[0]:
		c.add(e.line, KindXML, "<%s> stands behind the root's end", name.Local)
	case e.depth == 0 && (name.Local != "unattend" || name.Space != namespace):
		c.add(e.line, KindXML, "the root is <%s xmlns=%q>, and Windows wants <unattend xmlns=%q>", name.Local, name.Space, namespace)
	case e.depth == 1 && name.Local == "settings":
		c.settings++
		c.pass = e.attribute("pass")
		if !slices.Contains(passes, c.pass) {
			c.add(e.line, KindPass, "there is no pass %q; there are %s", c.pass, strings.Join(passes, ", "))
		}
	case e.depth == 2 && name.Local == "component":
		c.component(e)
	case e.depth > 2:
		// https://learn.microsoft.com/windows-hardware/customize/desktop/unattend/microsoft-windows-shell-setup-computername
		if name.Local == "ComputerName" && e.parent.attribute("name") == "Microsoft-Windows-Shell-Setup" && c.pass == "oobeSystem" {
			c.add(e.line, KindPass, "Windows doesn't read ComputerName in the pass %s, only in specialize", c.pass)
		}
		parent := e.parent.start.Name.Local
		if meant := misspelt(name.Local); meant != "" {
			c.add(e.line, KindSetup, "there is no <%s>; <%s> is meant", name.Local, meant)
		} else if has := holds[parent]; has != "" && !slices.Contains(strings.Fields(has), name.Local) {
			c.add(e.line, KindSetup, "<%s> has no <%s>, only %s", parent, name.Local, strings.Join(strings.Fields(has), ", "))
		}
	}
	c.text(e)
}

// namespaces finds what encoding/xml takes and Windows' parser doesn't: prefixes
// that nothing binds, and attributes that are there twice.
func (c *checker) namespaces(e *tree) {
	c.prefix(e, e.start.Name)
	seen := map[xml.Name]bool{}
	for _, a := range e.start.Attr {
		if seen[a.Name] {
			c.add(e.line, KindXML, "<%s> has the attribute %s twice", e.start.Name.Local, a.Name.Local)
		}
		seen[a.Name] = true
		if a.Name.Space != "xmlns" {
			c.prefix(e, a.Name)
		}
	}
}

// prefix: encoding/xml leaves a prefix that nothing binds in a namespace's place.
func (c *checker) prefix(e *tree, n xml.Name) {
	const reserved = "http://www.w3.org/XML/1998/namespace" // of xml:
	if n.Space == "" || n.Space == reserved || c.unbound[n.Space] || e.binds(n.Space) {
		return
	}
	c.unbound[n.Space] = true
	c.add(e.line, KindXML, "nothing binds the prefix of %s:%s; the root wants xmlns:%s=%q", n.Space, n.Local, n.Space, wcmNamespace)
}

// component holds one to its pass, and to the attributes that, with its name, tell
// Windows which one is meant.
func (c *checker) component(e *tree) {
	name, architecture := e.attribute("name"), e.attribute("processorArchitecture")
	in := passesOf(name)
	switch {
	case in == nil:
		c.add(e.line, KindUnknown, "component %q isn't one that is known here", name)
	case slices.Contains(passes, c.pass) && !slices.Contains(in, c.pass):
		c.add(e.line, KindPass, "Windows doesn't read %s in the pass %s, only in %s", name, c.pass, strings.Join(in, ", "))
	}
	if strings.EqualFold(architecture, "amd64") || strings.Contains(architecture, filled) {
		c.amd64[name+" "+c.pass] = true
	} else {
		c.others = append(c.others, other{name, c.pass, architecture, e.line})
	}
	for _, a := range [][2]string{{"publicKeyToken", publicKey}, {"language", "neutral"}, {"versionScope", "nonSxS"}} {
		if have := e.attribute(a[0]); !strings.EqualFold(have, a[1]) && !strings.Contains(have, filled) {
			c.add(e.line, KindIdentity, "%s has %s=%q, and Windows' own has %q", name, a[0], have, a[1])
		}
	}
}

func (c *checker) text(e *tree) {
	text, last, parent := strings.TrimSpace(e.text), e.start.Name.Local, e.parent.start.Name.Local
	if text == "" {
		return
	}
	if what := unfit(parent, last, text); what != "" {
		c.add(e.textLine, KindSetup, "%s", what)
	}
	switch {
	case parent == "AutoLogon" && last == "Enabled" && c.generalize && strings.EqualFold(text, "true"):
		c.add(e.textLine, KindAutoLogon, "AutoLogon is on, and every clone logs the administrator on by itself")
	case last == "Value" && strings.HasSuffix(parent, "Password"), last == "Password" && parent == "Credentials":
		if !strings.Contains(text, filled) {
			c.add(e.textLine, KindPassword, "%s is written into the file", parent)
		}
	case strings.HasSuffix(last, "Path") || last == "CommandLine":
		if m := fixedLetter.FindStringSubmatchIndex(text); m != nil {
			letter, rest := strings.ToUpper(text[m[2]:m[3]]), text[:m[2]]+text[m[3]:]
			c.letters[letter+rest] = append(c.letters[letter+rest], e.textLine)
		}
	}
}

// fixedLetters finds what relies on one letter: the same path under several
// letters is how Windows Setup is told to search.
func (c *checker) fixedLetters() {
	count := map[string]int{}
	for key := range c.letters {
		count[key[1:]]++
	}
	for _, key := range slices.Sorted(maps.Keys(c.letters)) {
		if count[key[1:]] == 1 {
			c.add(c.letters[key][0], KindLetter, "drive %s: is taken for granted", key[:1])
		}
	}
	slices.SortStableFunc(c.problems, func(a, b Problem) int { return a.Line - b.Line })
}

// names are those of settings that answer files have. There are more.
var names = strings.Fields(`AcceptEula AdministratorPassword AsynchronousCommand AutoLogon CommandLine ComputerName
CopyProfile CreatePartition CreatePartitions DiskConfiguration DisableAutoDaylightTimeSet DomainAccounts DriverPaths
FirstLogonCommands FullName HideEULAPage HideLocalAccountScreen HideOEMRegistrationScreen HideOnlineAccountScreens
HideWirelessSetupInOOBE ImageInstall InputLocale InstallFrom InstallTo LocalAccount LocalAccounts LogonCount
LogonCommands MetaData ModifyPartition ModifyPartitions NetworkLocation Organization PartitionID PathAndCredentials
PersistAllDeviceInstalls PlainText ProductKey ProtectYourPC RegisteredOrganization RegisteredOwner RequiresUserInput
RunAsynchronous RunAsynchronousCommand RunSynchronous RunSynchronousCommand SetupUILanguage SkipMachineOOBE SkipRearm
SkipUserOOBE SynchronousCommand SystemLocale TimeZone UILanguage UILanguageFallback UserAccounts UserData UserLocale
WillReboot WillShowUI WillWipeDisk`)

// holds is all that settings can have which are often written by hand. Windows Setup
// ends at another one, such as the CommandLine of a SynchronousCommand in a
// RunSynchronousCommand.
// https://learn.microsoft.com/windows-hardware/customize/desktop/unattend/
var holds = map[string]string{
	"AdministratorPassword":  "PlainText Value",
	"AsynchronousCommand":    "CommandLine Description Order RequiresUserInput",
	"AutoLogon":              "Domain Enabled LogonCount Password Username",
	"CreatePartition":        "Extend Order Size Type",
	"Disk":                   "CreatePartitions DiskID ModifyPartitions WillWipeDisk",
	"InstallFrom":            "Credentials MetaData Path",
	"InstallTo":              "DiskID PartitionID",
	"LocalAccount":           "Description DisplayName Group Name Password",
	"MetaData":               "Key Value",
	"ModifyPartition":        "Active Extend Format Label Letter Order PartitionID TypeID",
	"OSImage":                "Compact InstallFrom InstallTo InstallToAvailablePartition WillShowUI",
	"RunAsynchronousCommand": "Credentials Description Order Path",
	"RunSynchronousCommand":  "Credentials Description Order Path WillReboot",
	"SynchronousCommand":     "CommandLine Description Order RequiresUserInput",
	"UserData":               "AcceptEula FullName Organization ProductKey",
}

// misspelt is the setting that is meant by a name that differs from it in one
// letter, or in case; "" for any other. Windows Setup ends at a setting that it
// doesn't know.
func misspelt(name string) string {
	meant := ""
	for _, known := range names {
		if known == name {
			return ""
		}
		if strings.EqualFold(known, name) || levenshtein.Distance(known, name, nil) == 1 {
			meant = known
		}
	}
	return meant
}
