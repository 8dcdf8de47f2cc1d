package lint

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// literal is a quoted string of HCL that may name a file.
var literal = regexp.MustCompile(`"((?:[^"\\]|\\.)+)"`)

// follow reads the files that the template's HCL names, and those whose names
// stand in them: answer files run scripts that nothing else mentions.
func (f *folder) follow() {
	for _, name := range f.hcl {
		for _, m := range literal.FindAllSubmatch(f.files[name], -1) {
			f.take(strings.ReplaceAll(string(m[1]), "${path.root}/", ""))
		}
	}
	candidates := map[string][]byte{}
	_ = filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what can't be listed isn't a script of this template
		}
		if rel, err := filepath.Rel(f.dir, path); err == nil && f.files[rel] == nil && textual(rel) {
			if data, err := readAt(f.dir, rel); err == nil && utf8.Valid(data) {
				candidates[rel] = data
			}
		}
		return nil
	})
	// On a CD or floppy there is one file of a name: where the HCL has named
	// one, another folder's is another template's.
	named := map[string]bool{}
	for rel := range f.files {
		named[filepath.Base(rel)] = true
	}
	f.choose(candidates)
	for again := true; again; {
		again = false
		for rel, data := range candidates {
			if f.files[rel] == nil && !named[filepath.Base(rel)] && f.mentioned(filepath.Base(rel)) {
				f.files[rel] = data
				again = true
			}
		}
	}
}

// choose drops those of several files of one name whose folders the HCL doesn't
// speak of, if it speaks of another's: they are other templates'.
func (f *folder) choose(candidates map[string][]byte) {
	var text strings.Builder
	for _, name := range f.hcl {
		text.Write(f.files[name])
	}
	spoken := map[string]bool{}
	isSpoken := func(rel string) bool {
		dir := filepath.Base(filepath.Dir(rel))
		return dir != "." && strings.Contains(text.String(), dir)
	}
	for rel := range candidates {
		spoken[filepath.Base(rel)] = spoken[filepath.Base(rel)] || isSpoken(rel)
	}
	maps.DeleteFunc(candidates, func(rel string, _ []byte) bool { return spoken[filepath.Base(rel)] && !isSpoken(rel) })
}

// take reads a file, a folder's files or a pattern's that HCL names.
func (f *folder) take(path string) {
	if path == "" || strings.ContainsAny(path, "\n{}$") || strings.Contains(path, "://") || path == "." || path == ".." || path == "/" {
		return
	}
	if info, err := os.Stat(filepath.Join(f.dir, path)); err == nil && info.IsDir() {
		path = filepath.Join(path, "*")
	}
	names, err := filepath.Glob(filepath.Join(f.dir, path))
	if err != nil {
		return
	}
	for _, name := range names {
		rel, err := filepath.Rel(f.dir, name)
		if err != nil || f.files[rel] != nil {
			continue
		}
		if data, err := readAt(f.dir, rel); err == nil && utf8.Valid(data) {
			f.files[rel] = data
		}
	}
}

func (f *folder) mentioned(base string) bool {
	for _, data := range f.files {
		if strings.Contains(string(data), base) {
			return true
		}
	}
	return false
}

// textual are names that a template's own files have.
func textual(name string) bool {
	base := strings.ToLower(filepath.Base(name))
	if strings.HasPrefix(base, ".") || strings.HasSuffix(base, ".md") {
		return false
	}
	return slices.ContainsFunc([]string{".ps1", ".psm1", ".cmd", ".bat", ".xml", ".pkrtpl", ".hcl", ".conf", ".pub", ".pem", ".key"}, func(s string) bool { return strings.HasSuffix(base, s) }) ||
		!strings.Contains(base, ".")
}

var comment = regexp.MustCompile(`(?mi)^[ \t]*(#|//|::|rem\s).*$`)

// script is everything that the template does, in lower case and without
// comments.
func (f *folder) script() string {
	var b strings.Builder
	for _, data := range f.files {
		b.WriteString(comment.ReplaceAllString(string(data), "") + "\n")
	}
	return strings.ToLower(b.String())
}

// sorted are the names of the files that were read.
func (f *folder) sorted() []string {
	var names []string
	for name := range f.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
