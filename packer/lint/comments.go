package lint

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// dialect is the language of a file, as far as its comments go.
type dialect int

const (
	plain dialect = iota
	powerShell
	batch
	markup
	configuration // HCL
)

var dialects = map[string]dialect{
	".ps1": powerShell, ".psm1": powerShell, ".cmd": batch, ".bat": batch, ".xml": markup, ".hcl": configuration,
}

// templateEnds are what names of templatefile's files have behind their own end.
var templateEnds = []string{".pkrtpl.hcl", ".pkrtpl", ".tpl.hcl", ".tpl", ".tftpl", ".tmpl"}

func dialectOf(name string) dialect {
	name = strings.ToLower(name)
	for _, end := range templateEnds {
		if inner, cut := strings.CutSuffix(name, end); cut {
			name = inner
			break
		}
	}
	return dialects[filepath.Ext(name)]
}

var (
	lineComment   = regexp.MustCompile(`(?mi)^[ \t]*(#|//|::|rem\s).*$`)
	batchComment  = regexp.MustCompile(`(?mi)(^|[&|(])[ \t@]*(?:::|rem\b).*$`)
	blockComment  = regexp.MustCompile(`(?s)<#.*?(?:#>|\z)`)
	markupComment = regexp.MustCompile(`(?s)<!--.*?(?:-->|\z)`)
	// userData is what clouds run of a machine's user data.
	userData = regexp.MustCompile(`(?i)<powershell>`)
)

// stripped is a file's text without its comments. Each line stays in its place.
func stripped(name string, data []byte) []byte {
	switch d := dialectOf(name); {
	case d == markup || bytes.HasPrefix(bytes.TrimSpace(data), []byte("<?xml")):
		return markupComment.ReplaceAllFunc(data, newlines)
	case d == powerShell || userData.Match(data):
		return (&powerShellText{src: data}).stripped()
	case d == batch:
		return batchComment.ReplaceAll(data, []byte("$1"))
	case d == configuration:
		return lineComment.ReplaceAll(withoutHCLComments(data), nil) // a heredoc's lines are scripts
	}
	return lineComment.ReplaceAll(markupComment.ReplaceAllFunc(blockComment.ReplaceAllFunc(data, newlines), newlines), nil)
}

func newlines(b []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(b, []byte("\n"))) }

// answerBegins is how an answer file begins, behind what templates have in front
// of it. A script or user data that writes one has it further down.
var answerBegins = regexp.MustCompile(`^\x{FEFF}?(?:\s|[$%]\{[^}]*\}|\{\{[^}]*\}\})*<(?:\?xml|!--|(?:\w+:)?unattend\b)`)

// isAnswer reports whether a file is, or becomes, an answer file.
func isAnswer(name string, data []byte) bool {
	switch dialectOf(name) {
	case powerShell, batch:
		return false
	case markup: // what HCL joins to a document may begin with a function's argument
	default:
		if !answerBegins.Match(data) {
			return false
		}
	}
	return bytes.Contains(data, []byte("<unattend")) || bytes.Contains(data, []byte("urn:schemas-microsoft-com:unattend"))
}

func withoutHCLComments(data []byte) []byte {
	out := slices.Clone(data)
	tokens, _ := hclsyntax.LexConfig(data, "", hcl.InitialPos)
	for _, t := range tokens {
		if t.Type != hclsyntax.TokenComment {
			continue
		}
		for i := t.Range.Start.Byte; i < t.Range.End.Byte; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	return out
}

// powerShellText takes the comments out of a script. A # begins one only where
// a word could begin, and neither of both kinds does in a string.
type powerShellText struct {
	src []byte
	pos int
	out []byte
}

func (p *powerShellText) stripped() []byte {
	for p.pos < len(p.src) {
		p.code()
		p.keep(1) // a bracket that nothing opened
	}
	return p.out
}

func (p *powerShellText) at(s string) bool { return bytes.HasPrefix(p.src[p.pos:], []byte(s)) }

func (p *powerShellText) keep(n int) {
	end := min(p.pos+n, len(p.src))
	p.out = append(p.out, p.src[p.pos:end]...)
	p.pos = end
}

// through keeps what there is up to and with the end.
func (p *powerShellText) through(end string) {
	if i := bytes.Index(p.src[p.pos:], []byte(end)); i >= 0 {
		p.keep(i + len(end))
		return
	}
	p.keep(len(p.src))
}

// code reads up to the bracket that closes what the caller opened.
func (p *powerShellText) code() {
	for depth := 0; p.pos < len(p.src); {
		switch {
		case p.at("`"):
			p.keep(2)
		case p.at("<#"):
			p.drop("#>")
		case p.at("#") && p.wordBegins():
			p.dropLine()
		case p.at("@'\n"), p.at("@'\r\n"):
			p.through("\n'@")
		case p.at("@\"\n"), p.at("@\"\r\n"):
			p.through("\n\"@")
		case p.at("'"):
			p.keep(1)
			p.through("'")
		case p.at(`"`):
			p.keep(1)
			p.expandable()
		case p.at(")") && depth == 0:
			return
		default:
			if p.at("(") {
				depth++
			} else if p.at(")") {
				depth--
			}
			p.keep(1)
		}
	}
}

// expandable reads a string in double quotes, in which $( ) is code again.
func (p *powerShellText) expandable() {
	for p.pos < len(p.src) {
		switch {
		case p.at("`"):
			p.keep(2)
		case p.at("$("):
			p.keep(2)
			p.code()
			p.keep(1)
		case p.at(`"`):
			p.keep(1)
			return
		default:
			p.keep(1)
		}
	}
}

func (p *powerShellText) wordBegins() bool {
	return p.pos == 0 || bytes.IndexByte([]byte(" \t\r\n;(){}|&,="), p.src[p.pos-1]) >= 0
}

func (p *powerShellText) drop(end string) {
	comment := p.src[p.pos:]
	if i := bytes.Index(comment, []byte(end)); i >= 0 {
		comment = comment[:i+len(end)]
	}
	p.out = append(p.out, newlines(comment)...)
	p.pos += len(comment)
}

func (p *powerShellText) dropLine() {
	if i := bytes.IndexByte(p.src[p.pos:], '\n'); i >= 0 {
		p.pos += i
		return
	}
	p.pos = len(p.src)
}
