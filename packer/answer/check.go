package answer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
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
	KindName      Kind = "name"      // one for all clones
	KindSetup     Kind = "setup"     // something that Windows Setup asks for
	KindDisk      Kind = "disk"      // a disk that Windows Setup can't make, or installs onto wrongly
)

// Problem is one thing that is wrong with an answer file.
type Problem struct {
	Kind Kind
	Line int // 0 for the whole file
	What string
}

// Check reads an answer file, or a template of one for Packer's templatefile,
// and returns what is wrong with it. generalize says that the file is given to
// sysprep and stays in the image.
func Check(data []byte, generalize bool) []Problem {
	text, err := Text(data)
	if err != nil {
		return []Problem{{KindXML, 1, err.Error()}}
	}
	c := &checker{generalize: generalize}
	for _, variant := range variants(text) {
		root, line, err := parse(variant)
		switch {
		case errors.Is(err, errEncoding):
			return []Problem{{KindEncoding, 1, errEncoding.Error()}}
		case err != nil:
			return []Problem{{KindXML, line, err.Error()}}
		}
		c.file(root)
	}
	slices.SortStableFunc(c.problems, func(a, b Problem) int { return a.Line - b.Line })
	return c.problems
}

type checker struct {
	generalize bool
	problems   []Problem
}

// add records a problem once, though two variants have it.
func (c *checker) add(line int, k Kind, format string, args ...any) {
	if p := (Problem{k, line, fmt.Sprintf(format, args...)}); !slices.Contains(c.problems, p) {
		c.problems = append(c.problems, p)
	}
}

func (c *checker) file(root *element) {
	settings := root.all("settings")
	switch name := root.XMLName; {
	case name.Local != "unattend" || name.Space != namespace:
		c.add(root.line, KindXML, "the root is <%s xmlns=%q>, and Windows wants <unattend xmlns=%q>", name.Local, name.Space, namespace)
	case len(settings) == 0:
		c.add(root.line, KindXML, "there is no <settings> in it")
	}
	for _, s := range settings {
		pass := s.attribute("pass")
		if !slices.Contains(passes, pass) {
			c.add(s.line, KindPass, "there is no pass %q; there are %s", pass, strings.Join(passes, ", "))
			continue
		}
		for _, component := range s.all("component") {
			c.component(s, component, pass)
			c.texts(component)
		}
	}
	c.stops(root)
	c.disks(root)
}

// component holds one to its pass, and to the attributes that, with its name, tell
// Windows which one is meant.
func (c *checker) component(settings, e *element, pass string) {
	name := e.attribute("name")
	if in := passesOf(name); in == nil {
		c.add(e.line, KindUnknown, "component %q isn't one that is known here", name)
	} else if !slices.Contains(in, pass) {
		c.add(e.line, KindPass, "Windows doesn't read %s in the pass %s, only in %s", name, pass, strings.Join(in, ", "))
	}
	for _, a := range [][2]string{{"processorArchitecture", "amd64"}, {"publicKeyToken", publicKey}, {"language", "neutral"}, {"versionScope", "nonSxS"}} {
		have := e.attribute(a[0])
		if strings.EqualFold(have, a[1]) || isPlaceholder(have) {
			continue
		}
		// Files for several machines have each component once for each of them.
		if a[0] == "processorArchitecture" && slices.ContainsFunc(settings.all("component"), func(other *element) bool {
			return other.attribute("name") == name && other.attribute(a[0]) == a[1]
		}) {
			continue
		}
		c.add(e.line, KindIdentity, "%s has %s=%q, and Windows Server's has %q", name, a[0], have, a[1])
		return
	}
}

// texts looks at the values below an element.
func (c *checker) texts(parent *element) {
	for _, e := range parent.Kids {
		text, name, in := strings.TrimSpace(e.Text), e.XMLName.Local, parent.XMLName.Local
		switch {
		case text == "" || isPlaceholder(text):
		case in == "AutoLogon" && name == "Enabled" && c.generalize && strings.EqualFold(text, "true"):
			c.add(e.line, KindAutoLogon, "AutoLogon is on, and every clone logs the administrator on by itself")
		case name == "Value" && strings.HasSuffix(in, "Password"), name == "Password" && in == "Credentials":
			c.add(e.line, KindPassword, "%s is written into the file", in)
		case name == "ComputerName" && c.generalize && text != "*":
			c.add(e.line, KindName, "ComputerName is %s, for all clones", text)
		}
		c.texts(e)
	}
}

// otherPlaceholder is what tools other than Packer fill in.
var otherPlaceholder = regexp.MustCompile(`^(\{\{.+\}\}|@+\w+@+|%\w+%|__\w+__|\$\w+\$?|<\w+>)$`)

// isPlaceholder reports whether something puts a value in before Windows reads it.
func isPlaceholder(text string) bool {
	return strings.Contains(text, filled) || otherPlaceholder.MatchString(text)
}
