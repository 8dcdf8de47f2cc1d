package template

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
)

var scriptPath = regexp.MustCompile(`scripts/([a-z-]+)\.ps1`)

func (r *render) script(name string) ([]byte, error) {
	data, err := r.execute(name + ".ps1")
	if bytes.Contains(data, []byte("Start-Transcript")) {
		data = append(data, "\nStop-Transcript | Out-Null"...)
	}
	return append(data, "\nexit 0\n"...), err
}

// addScripts adds the scripts that the HCL written so far names, and no
// others.
func (r *render) addScripts() error {
	var names []string
	for _, f := range r.files {
		for _, m := range scriptPath.FindAllSubmatch(f.Data, -1) {
			names = append(names, string(m[1]))
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		data, err := r.script(name)
		if err != nil {
			return err
		}
		r.add("scripts/"+name+".ps1", data)
	}
	return nil
}

// Moment is when an image team's own script runs.
type Moment string

// The moments.
const (
	BeforeUpdates Moment = "before-updates"
	AfterUpdates  Moment = "after-updates"
	// Last is before sysprep, when everything else is done.
	Last Moment = "last"
)

// Moments lists them.
func Moments() []Moment { return []Moment{BeforeUpdates, AfterUpdates, Last} }

// ExtraScript is an image team's own script, which the folder gets a copy of.
type ExtraScript struct {
	Moment Moment
	// Name is the file's, with .ps1, .cmd or .bat.
	Name string
	Data []byte
}

// ReadExtraScripts reads scripts by [MOMENT=]PATH. The error is a *fault.Error.
func ReadExtraScripts(given ...string) ([]ExtraScript, error) {
	var all []ExtraScript
	for _, g := range given {
		s, err := readExtraScript(g)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func readExtraScript(given string) (ExtraScript, error) {
	s := ExtraScript{Moment: Last}
	path := given
	for _, m := range Moments() {
		if rest, ok := strings.CutPrefix(given, string(m)+"="); ok {
			s.Moment, path = m, rest
		}
	}
	s.Name = filepath.Base(path)
	if provisioners[strings.ToLower(filepath.Ext(s.Name))] == "" {
		return s, &fault.Error{Where: given, What: "a script of Windows ends in .ps1, .cmd or .bat", Fix: "give --extra-script last=PATH.ps1, or before-updates=, after-updates="}
	}
	data, err := infile.Read(path, infile.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return s, &fault.Error{Where: path, What: "there is no such script", Fix: "check --extra-script", Err: err}
	}
	if err != nil {
		return s, fmt.Errorf("read the script: %w", err)
	}
	s.Data = data
	return s, nil
}

func extraPath(s ExtraScript) string { return "extra/" + s.Name }

// quoteRoot is a path below the folder as an HCL string.
func quoteRoot(path string) string { return `"${path.root}/` + strings.Trim(quote(path), `"`) + `"` }

func (r *render) addExtraScripts() error {
	for i, s := range r.ExtraScripts {
		if slices.ContainsFunc(r.ExtraScripts[:i], func(o ExtraScript) bool { return strings.EqualFold(o.Name, s.Name) }) {
			return &fault.Error{Where: s.Name, What: "two extra scripts have the same name", Fix: "rename one of them"}
		}
		r.add(extraPath(s), s.Data)
	}
	return nil
}
