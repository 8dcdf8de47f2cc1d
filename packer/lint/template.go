package lint

import (
	"bytes"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

// template is what the rules look at.
type template struct {
	*hclfolder.Folder
	profile string
	answers []answerFile
}

type block = hclfolder.Block

// answerFile is an answer file of Windows Setup or sysprep.
type answerFile struct {
	name string
	data []byte // in UTF-8, unless it can't be decoded
}

// forSetup reports whether Windows Setup reads the file. Others are for sysprep, and stay
// in the image.
func (a answerFile) forSetup() bool { return bytes.Contains(a.data, []byte(`pass="windowsPE"`)) }

func isAnswer(data []byte) bool {
	return bytes.Contains(data, []byte("<unattend")) || bytes.Contains(data, []byte("urn:schemas-microsoft-com:unattend"))
}

// findAnswers lists the answer files of the folder.
func (t *template) findAnswers() {
	_ = filepath.WalkDir(t.Dir, func(file string, d fs.DirEntry, err error) error {
		rel := t.rel(file)
		name := strings.ToLower(path.Base(rel))
		if err != nil || d.IsDir() || !strings.Contains(name, ".xml") && !strings.Contains(name, "unattend") {
			return nil //nolint:nilerr // what can't be listed is no file of this template
		}
		data, err := expression.ReadAt(t.Dir, rel)
		if err != nil {
			return nil //nolint:nilerr // neither is what can't be read
		}
		text, err := answer.Text(data)
		if err != nil { // answer.Check says so
			text = data
		}
		if isAnswer(text) || err != nil && strings.Contains(name, "unattend") {
			t.answers = append(t.answers, answerFile{rel, text})
		}
		return nil
	})
}

// rel is a path below the template's folder, as the folder has it.
func (t *template) rel(file string) string {
	return path.Clean(strings.TrimPrefix(filepath.ToSlash(file), filepath.ToSlash(t.Dir)+"/"))
}

// answersOf are the answer files that a source or its provisioners name.
func (t *template) answersOf(s *block) []answerFile {
	texts := t.AllTexts(s.Body)
	for _, p := range t.Provisioners(s) {
		texts = append(texts, t.AllTexts(p.Body)...)
	}
	var named, alike []answerFile
	for _, a := range t.answers {
		names := func(text string) bool {
			match, _ := path.Match(t.rel(text), a.name)
			return match || strings.HasPrefix(a.name, t.rel(text)+"/")
		}
		if slices.ContainsFunc(texts, names) {
			named = append(named, a)
		} else if slices.ContainsFunc(texts, func(text string) bool { return path.Base(t.rel(text)) == path.Base(a.name) }) {
			alike = append(alike, a)
		}
	}
	if len(named) == 0 { // something puts them where the HCL looks for them
		return alike
	}
	return named
}
