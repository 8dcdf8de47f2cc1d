package answer

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
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

// directive is what templatefile takes out, placeholder what it fills in.
var (
	directive   = regexp.MustCompile(`%\{[^{}]*\}`)
	comment     = regexp.MustCompile(`(?s)<!--.*?-->`)
	placeholder = regexp.MustCompile(`\$\{[^{}]*\}`)
	fixedLetter = regexp.MustCompile(`(?i)(?:^|[^\w%$])([ABD-Z]):[\\/]`) // %d: and $d: are variables
)

const filled = "winbake.placeholder"

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
	c := &checker{d: decoder(text), generalize: generalize, letters: map[string][]int{}, amd64: map[string]bool{}, unbound: map[string]bool{}}
	if err := c.run(); err != nil {
		return append(c.problems, Problem{KindXML, c.line(), err.Error()})
	}
	if len(c.problems) == 0 && c.settings == 0 {
		c.add(KindXML, "there is no <settings> in it")
	}
	if before, _, found := bytes.Cut(text, []byte("<?xml")); found && len(before) > 0 && len(bytes.TrimSpace(comment.ReplaceAll(before, nil))) == 0 {
		c.problems = append(c.problems, Problem{KindXML, 1, "something stands before <?xml, which is only read at a file's start"})
	}
	c.otherMachines()
	c.installation(text)
	c.fixedLetters()
	return c.problems
}

// decoder reads a file, or a template of one, that is in UTF-8 by now, whatever
// it declares.
func decoder(text []byte) *xml.Decoder {
	d := xml.NewDecoder(bytes.NewReader(placeholder.ReplaceAll(directive.ReplaceAllFunc(text, keepLines), []byte(filled))))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return d
}

func keepLines(b []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(b, []byte("\n"))) }

type checker struct {
	d          *xml.Decoder
	generalize bool
	problems   []Problem
	path       []string        // element names from the root
	bound      [][]string      // namespaces that each of them binds
	unbound    map[string]bool // prefixes that were spoken of
	roots      int
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

func (c *checker) line() int { line, _ := c.d.InputPos(); return line }

func (c *checker) add(k Kind, format string, args ...any) {
	c.problems = append(c.problems, Problem{k, c.line(), fmt.Sprintf(format, args...)})
}

func (c *checker) run() error {
	for {
		token, err := c.d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			c.namespaces(t)
			c.start(t)
			c.path = append(c.path, t.Name.Local)
		case xml.EndElement:
			c.path, c.bound = c.path[:len(c.path)-1], c.bound[:len(c.bound)-1]
		case xml.CharData:
			c.text(strings.TrimSpace(string(t)))
		}
	}
}

// namespaces finds what encoding/xml takes and Windows' parser doesn't: prefixes
// that nothing binds, and attributes that are there twice.
func (c *checker) namespaces(e xml.StartElement) {
	var here []string
	for _, a := range e.Attr {
		if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
			here = append(here, a.Value)
		}
	}
	c.bound = append(c.bound, here)
	c.prefix(e.Name)
	seen := map[xml.Name]bool{}
	for _, a := range e.Attr {
		if seen[a.Name] {
			c.add(KindXML, "<%s> has the attribute %s twice", e.Name.Local, a.Name.Local)
		}
		seen[a.Name] = true
		if a.Name.Space != "xmlns" {
			c.prefix(a.Name)
		}
	}
}

// prefix: encoding/xml leaves a prefix that nothing binds in a namespace's place.
func (c *checker) prefix(n xml.Name) {
	const reserved = "http://www.w3.org/XML/1998/namespace" // of xml:
	if n.Space == "" || n.Space == reserved || slices.ContainsFunc(c.bound, func(here []string) bool { return slices.Contains(here, n.Space) }) {
		return
	}
	if c.unbound[n.Space] {
		return
	}
	c.unbound[n.Space] = true
	c.add(KindXML, "nothing binds the prefix of %s:%s; the root wants xmlns:%s=%q", n.Space, n.Local, n.Space, wcmNamespace)
}

func (c *checker) start(e xml.StartElement) {
	if len(c.path) == 0 {
		c.roots++
	}
	switch {
	case c.roots > 1 && len(c.path) == 0:
		c.add(KindXML, "<%s> stands behind the root's end", e.Name.Local)
	case len(c.path) == 0 && (e.Name.Local != "unattend" || e.Name.Space != namespace):
		c.add(KindXML, "the root is <%s xmlns=%q>, and Windows wants <unattend xmlns=%q>", e.Name.Local, e.Name.Space, namespace)
	case len(c.path) == 1 && e.Name.Local == "settings":
		c.settings++
		c.pass = attribute(e, "pass")
		if !slices.Contains(passes, c.pass) {
			c.add(KindPass, "there is no pass %q; there are %s", c.pass, strings.Join(passes, ", "))
		}
	case len(c.path) > 2:
		if meant := misspelt(e.Name.Local); meant != "" {
			c.add(KindSetup, "there is no <%s>; <%s> is meant", e.Name.Local, meant)
		}
	case len(c.path) == 2 && e.Name.Local == "component":
		c.component(attribute(e, "name"), attribute(e, "processorArchitecture"))
		c.identity(e)
	}
}

func (c *checker) component(name, architecture string) {
	in := passesOf(name)
	switch {
	case in == nil:
		c.add(KindUnknown, "component %q isn't one that is known here", name)
	case slices.Contains(passes, c.pass) && !slices.Contains(in, c.pass):
		c.add(KindPass, "Windows doesn't read %s in the pass %s, only in %s", name, c.pass, strings.Join(in, ", "))
	}
	if strings.EqualFold(architecture, "amd64") || strings.Contains(architecture, filled) {
		c.amd64[name+" "+c.pass] = true
		return
	}
	c.others = append(c.others, other{name, c.pass, architecture, c.line()})
}

// otherMachines finds components that are for another machine alone: beside the
// one for this machine they are passed over, as in files for several.
func (c *checker) otherMachines() {
	for _, o := range c.others {
		if !c.amd64[o.component+" "+o.pass] {
			c.problems = append(c.problems, Problem{KindIdentity, o.line, fmt.Sprintf("%s is for %q, and Windows Server is amd64", o.component, o.architecture)})
		}
	}
}

// identity holds a component to the attributes that, with its name, tell Windows
// which one is meant.
func (c *checker) identity(e xml.StartElement) {
	for _, a := range [][2]string{{"publicKeyToken", publicKey}, {"language", "neutral"}, {"versionScope", "nonSxS"}} {
		if have := attribute(e, a[0]); !strings.EqualFold(have, a[1]) && !strings.Contains(have, filled) {
			c.add(KindIdentity, "%s has %s=%q, and Windows' own has %q", attribute(e, "name"), a[0], have, a[1])
		}
	}
}

func (c *checker) text(text string) {
	if text == "" || len(c.path) == 0 {
		return
	}
	last := c.path[len(c.path)-1]
	parent := ""
	if len(c.path) > 1 {
		parent = c.path[len(c.path)-2]
	}
	if what := unfit(parent, last, text); what != "" {
		c.add(KindSetup, "%s", what)
	}
	switch {
	case parent == "AutoLogon" && last == "Enabled" && c.generalize && strings.EqualFold(text, "true"):
		c.add(KindAutoLogon, "AutoLogon is on, and every clone logs the administrator on by itself")
	case last == "Value" && strings.HasSuffix(parent, "Password"), last == "Password" && parent == "Credentials":
		if !strings.Contains(text, filled) {
			c.add(KindPassword, "%s is written into the file", parent)
		}
	case strings.HasSuffix(last, "Path") || last == "CommandLine":
		if m := fixedLetter.FindStringSubmatchIndex(text); m != nil {
			letter, rest := strings.ToUpper(text[m[2]:m[3]]), text[:m[2]]+text[m[3]:]
			c.letters[letter+rest] = append(c.letters[letter+rest], c.line())
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
	for key, lines := range c.letters {
		if count[key[1:]] == 1 {
			c.problems = append(c.problems, Problem{KindLetter, lines[0], "drive " + key[:1] + ": is taken for granted"})
		}
	}
	slices.SortStableFunc(c.problems, func(a, b Problem) int { return a.Line - b.Line })
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
