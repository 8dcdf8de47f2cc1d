package notation

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/internal/winscript"
)

// Dialect is the language of a file, as far as its comments go.
type Dialect int

// The dialects.
const (
	Plain Dialect = iota
	PowerShell
	Batch
	Markup
	Configuration // HCL
)

var dialects = map[string]Dialect{
	".ps1": PowerShell, ".psm1": PowerShell, ".cmd": Batch, ".bat": Batch, ".xml": Markup, ".hcl": Configuration,
}

// templateEnds are what names of templatefile's files have behind their own end.
var templateEnds = []string{".pkrtpl.hcl", ".pkrtpl", ".tpl.hcl", ".tpl", ".tftpl", ".tmpl"}

// DialectOf tells a file's language by its name.
func DialectOf(name string) Dialect {
	name = strings.ToLower(name)
	for _, end := range templateEnds {
		if inner, cut := strings.CutSuffix(name, end); cut {
			name = inner
			break
		}
	}
	if i := strings.LastIndex(name, "-script-"); i >= 0 { // a key of Google's metadata: windows-startup-script-cmd
		return dialects["."+name[i+len("-script-"):]]
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

// Stripped is a file's text without its comments. Each line stays in its place.
func Stripped(name string, data []byte) []byte {
	switch d := DialectOf(name); {
	case d == Markup || bytes.HasPrefix(bytes.TrimSpace(data), []byte("<?xml")):
		return markupComment.ReplaceAllFunc(data, newlines)
	case d == PowerShell || userData.Match(data):
		return []byte(winscript.WithoutComments(string(data)))
	case d == Batch:
		return batchComment.ReplaceAll(data, []byte("$1"))
	case d == Configuration:
		return lineComment.ReplaceAll(withoutHCLComments(data), nil) // a heredoc's lines are scripts
	}
	return lineComment.ReplaceAll(markupComment.ReplaceAllFunc(blockComment.ReplaceAllFunc(data, newlines), newlines), nil)
}

func newlines(b []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(b, []byte("\n"))) }

// answerBegins is how an answer file begins, behind what templates have in front
// of it. A script or user data that writes one has it further down.
var answerBegins = regexp.MustCompile(`^\x{FEFF}?(?:\s|[$%]\{[^}]*\}|\{\{[^}]*\}\})*<(?:\?xml|!--|(?:\w+:)?unattend\b)`)

// answerName is what Windows looks for, or is given by sysprep's users.
var answerName = regexp.MustCompile(`(?i)^(auto)?unattend\b`)

// IsAnswer reports whether a file is, or becomes, an answer file.
func IsAnswer(name string, data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 { // UTF-16 that couldn't be decoded
		data = bytes.Trim(bytes.ReplaceAll(data, []byte{0}, nil), "\xff\xfe")
	}
	switch DialectOf(name) {
	case PowerShell, Batch:
		return false
	case Markup: // what HCL joins to a document may begin with a function's argument
		if answerName.MatchString(filepath.Base(name)) && bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")) {
			return true
		}
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
