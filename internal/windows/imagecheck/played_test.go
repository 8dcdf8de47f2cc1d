package imagecheck

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// written is an answer of testdata.
type written struct {
	Ask, Answer, Source string
	Service             Service
	Absent              bool
}

// played is a Windows that gives written answers. A question that none is written for
// has no answer.
type played struct {
	answers map[string]written
	refuse  string // this question has no answer; "" for none
	asked   []string
}

func play(t *testing.T) *played {
	t.Helper()
	p := &played{answers: map[string]written{}}
	for _, a := range load[written](t, "testdata/right.yaml") {
		if a.Source == "" {
			t.Errorf("%s: where was the answer written from?", a.Ask)
		}
		p.answers[a.Ask] = a
	}
	return p
}

func load[T any](t *testing.T, name string) (all []T) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(&all); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return all
}

func (p *played) ask(question string) (written, error) {
	p.asked = append(p.asked, question)
	a, known := p.answers[question]
	switch {
	case !known:
		return a, fmt.Errorf("no answer is written: %s", question)
	case question == p.refuse:
		return a, fmt.Errorf("refused: %s", question)
	case a.Absent:
		return a, fs.ErrNotExist
	}
	return a, nil
}

func (p *played) text(question string) (string, error) {
	a, err := p.ask(question)
	return a.Answer, err
}

func (p *played) lines(question string) ([]string, error) {
	text, err := p.text(question)
	if text == "" {
		return nil, err
	}
	return strings.Split(text, "\n"), err
}

func (p *played) Value(key, name string) (string, error) { return p.text(`value ` + key + `\` + name) }
func (p *played) Values(key string) ([]string, error)    { return p.lines("values " + key) }
func (p *played) Keys(key string) ([]string, error)      { return p.lines("keys " + key) }
func (p *played) Glob(pattern string) ([]string, error)  { return p.lines("glob " + pattern) }
func (p *played) Security(path string) (string, error)   { return p.text("security " + path) }
func (p *played) Users() ([]string, error)               { return p.lines("users") }
func (p *played) WinHTTPProxy() (string, error)          { return p.text("winhttp proxy") }
func (p *played) Serial() (string, error)                { return p.text("serial") }
func (p *played) Service(name string) (s Service, _ error) {
	a, err := p.ask("service " + name)
	return a.Service, err
}

func (p *played) Read(path string) ([]byte, error) {
	text, err := p.text("read " + path)
	return []byte(text), err
}

// Run: PowerShell's lines are written by a word that they have.
func (p *played) Run(program string, args ...string) (string, error) {
	if program != "powershell.exe" {
		return p.text("run " + strings.Join(slices.Concat([]string{program}, args), " "))
	}
	line := args[len(args)-1]
	for question := range p.answers {
		if word, ok := strings.CutPrefix(question, "powershell "); ok && strings.Contains(line, word) {
			return p.text(question)
		}
	}
	return "", fmt.Errorf("no answer is written: %s", line)
}
