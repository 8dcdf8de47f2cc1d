package pins

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/strictyaml"
)

// places is where the keys of a mapping are; "" is the mapping.
type places struct{ at map[string]*yaml.Node }

// Begin is called by package strictyaml.
func (p *places) Begin(n *yaml.Node) map[string]*yaml.Node {
	p.at = map[string]*yaml.Node{"": n}
	return p.at
}

// place is a key's, or that of an item of its list; the mapping's where there is none.
func (p *places) place(key string, item int) *yaml.Node {
	n, ok := p.at[key]
	if !ok {
		return p.at[""]
	}
	if n.Kind == yaml.SequenceNode && item >= 0 && item < len(n.Content) {
		return n.Content[item]
	}
	return n
}

// document is versions.yaml as it was read.
type document struct{ *strictyaml.Document }

// byteOrderMark is what Windows' editors begin a file with.
const byteOrderMark = "\ufeff"

var (
	// scpForm is [user@]host:path. git gives host and path to ssh, which would
	// take a leading dash for an option of its own.
	scpForm = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.~+-]*@)?([A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\]):[^:-]`)

	// secretForm is a URL up to its host: with a password, or with a user that
	// may be a token. Behind a host, or its port, an @ is a path's or a query's.
	secretForm = regexp.MustCompile(`://[^/?#\s"'[]*:([^/\s"']*|[^/\s"']*[^0-9/\s"'][^/\s"']*/[^\s"']*)@|(https?|git|file)://[^/?#\s"']*@`)
	// baseSecretForm is a base with something before its registry.
	baseSecretForm = regexp.MustCompile(`\bbase:\s*["']?([^\s"']+)@[^\s"'@]+/`)
)

// at is a mistake where a person looks for n: a mapping's place is its first key's.
func (d *document) at(n *yaml.Node, what, fix string) *fault.Error {
	if n != nil && n.Kind == yaml.MappingNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	return d.At(n, what, fix)
}

func (d *document) report(n *yaml.Node, what, fix string) {
	d.Faults = append(d.Faults, d.at(n, what, fix))
}

// joinFaults makes one error of many, the first one's exit code and all.
func joinFaults(errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return fmt.Errorf("%d mistakes:\n%w", len(errs), errors.Join(errs...))
}

// masked puts stars over the credentials of URLs and of the base. The text keeps
// its length, so that a caret below it still points to its place.
func masked(text string) string {
	if at := baseSecretForm.FindStringSubmatchIndex(text); at != nil {
		text = text[:at[2]] + strings.Repeat("*", utf8.RuneCountInString(text[at[2]:at[3]])) + text[at[3]:]
	}
	return secretForm.ReplaceAllStringFunc(text, func(found string) string {
		scheme, secret, _ := strings.Cut(found, "://")
		return scheme + "://" + strings.Repeat("*", utf8.RuneCountInString(secret)-1) + "@"
	})
}
