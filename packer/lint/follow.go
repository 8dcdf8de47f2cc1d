package lint

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/internal/winscript"
	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/notation"
)

// follow reads what the machine of each source and build is brought.
func (f *folder) follow() {
	sources := f.Sources
	if len(sources) == 0 {
		sources = []*block{{Block: &hclsyntax.Block{Body: &hclsyntax.Body{}}}}
	}
	hcl, all, candidates := f.Files, maps.Clone(f.Files), f.candidates()
	for _, s := range sources {
		machines := []*block{s}
		if len(s.Builds) > 1 { // each makes an image of its own
			machines = nil
			for _, b := range s.Builds {
				machines = append(machines, &block{Block: s.Block, File: s.File, Builds: []*block{b}})
			}
		}
		for _, m := range machines {
			f.Files, f.scripts, f.mentions, f.filling = maps.Clone(hcl), nil, nil, map[string]map[string]string{}
			f.followFor(m, candidates)
			f.brought[m] = brought{f.scripts, f.mentions}
			if m != s {
				f.brought[s] = brought{scripts: f.scripts}
			}
			maps.Copy(all, f.Files)
		}
		f.machines = append(f.machines, machines...)
	}
	f.Files = all
}

// candidates are the small files of the folder that nothing has named yet.
func (f *folder) candidates() map[string][]byte {
	candidates := map[string][]byte{}
	_ = filepath.WalkDir(f.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what can't be listed isn't a script of this template
		}
		rel, err := filepath.Rel(f.Dir, path)
		if rel = filepath.ToSlash(rel); err == nil && f.Files[rel] == nil && textual(rel) {
			if data, ok := f.read(rel); ok {
				candidates[rel] = data
			}
		}
		return nil
	})
	f.choose(candidates)
	return candidates
}

// followFor reads the files that a source and its provisioners name, and those
// whose names stand in them: answer files run scripts that nothing else mentions.
func (f *folder) followFor(source *block, candidates map[string][]byte) {
	f.execute(part{Body: source.Body, object: source.At()[0]})
	for _, p := range f.Provisioners(source) {
		waits := slices.ContainsFunc([]string{"valid_exit_codes", "pause_before", "pause_after"}, func(name string) bool { return p.Body.Attributes[name] != nil })
		f.scripts = append(f.scripts, Script{Name: p.Labels[0], Language: Cmd, Text: p.Labels[0], Stage: AtBuild, waits: waits})
		pwsh, _ := f.Text(p.Body, "use_pwsh")
		f.execute(part{p.Body, p.At("inline", "content", "script", "scripts")[0], inlineNames[p.Labels[0]], AtBuild, f.environment(p.Body), pwsh == "true"})
	}
	// On a CD or floppy there is one file of a name: where the HCL has named
	// one, another folder's is another template's.
	named := map[string]bool{}
	for rel := range f.Files {
		named[filepath.Base(rel)] = true
	}
	for again := true; again; {
		again = false
		for _, rel := range sortedKeys(candidates) {
			if base := filepath.Base(rel); f.Files[rel] == nil && !named[base] && f.mentioned(base) && f.meant(rel, candidates) {
				f.put(Script{Name: rel}, candidates[rel])
				again = true
			}
		}
	}
}

// choose drops those of several files of one name whose folders the HCL doesn't
// speak of, if it speaks of another's: they are other templates'.
func (f *folder) choose(candidates map[string][]byte) {
	var text strings.Builder
	for _, name := range f.HCL {
		text.Write(notation.Stripped(name, f.Files[name]))
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

// take reads a file, a folder's files or a pattern's that HCL names, and reports
// whether there is one. s is what is known of them.
func (f *folder) take(path string, s Script) bool {
	path = strings.TrimPrefix(filepath.FromSlash(path), f.Dir+string(filepath.Separator))
	if path == "" || strings.ContainsAny(path, "\n{}$") || strings.Contains(path, "://") || path == "." || path == ".." || path == "/" {
		return false
	}
	if info, err := os.Stat(filepath.Join(f.Dir, path)); err == nil && info.IsDir() {
		path = filepath.Join(path, "*")
	}
	names, err := filepath.Glob(filepath.Join(f.Dir, path))
	if err != nil {
		return false
	}
	names = slices.DeleteFunc(names, func(name string) bool { // a link to nothing
		_, err := os.Stat(name)
		return errors.Is(err, fs.ErrNotExist)
	})
	for _, name := range names {
		rel, err := filepath.Rel(f.Dir, name)
		if err != nil {
			continue
		}
		rel = filepath.ToSlash(rel)
		if data, ok := f.read(rel); ok {
			own := s
			own.Name = rel
			if s.Stage == AtBuild && LanguageOf(rel) == Text { // the provisioner's
				own.Paths = append(slices.Clone(s.Paths), s.Name)
			}
			f.put(own, data)
		}
	}
	return len(names) > 0
}

// read is a file's text, a script's as PowerShell reads it. XML that can't be
// decoded is left to its own rule.
func (f *folder) read(rel string) ([]byte, bool) {
	data, err := expression.ReadAt(f.Dir, rel)
	if err != nil {
		return nil, false
	}
	if LanguageOf(rel) == PowerShell {
		return []byte(winscript.Decode(data)), true
	}
	text, err := answer.Text(data)
	if err != nil {
		return data, notation.IsAnswer(rel, data)
	}
	return text, utf8.Valid(text)
}

// put notes a file once for each stage and environment that it runs in.
func (f *folder) put(s Script, data []byte) {
	s.Language = LanguageOf(s.Name)
	if s.Language == Text && len(s.Paths) > 0 {
		s.Language = LanguageOf(s.Paths[len(s.Paths)-1])
	}
	if s.binary = s.Language == PowerShell && bytes.IndexByte(data, 0) >= 0; s.binary {
		data = []byte{} // there is nothing to find in it
	}
	f.Files[s.Name], s.Text, s.values = data, string(data), f.filling[s.Name]
	for i, known := range f.scripts {
		if known.Name == s.Name && known.Stage == s.Stage && maps.Equal(known.Env, s.Env) {
			f.scripts[i].Paths = slices.Concat(known.Paths, s.Paths)
			if s.Stage == AtBuild {
				f.scripts = append(f.scripts, Script{Name: s.Name, Language: Cmd, Stage: s.Stage, Env: s.Env, again: true})
			}
			return
		}
	}
	f.scripts = append(f.scripts, s)
}

// meant reports whether no other file of this one's name lies in a folder that is more
// like the one of a path at which there is nothing: something else puts it there.
func (f *folder) meant(rel string, candidates map[string][]byte) bool {
	best, own := 0, 0
	for _, path := range f.mentions {
		if filepath.Base(path) != filepath.Base(rel) {
			continue
		}
		in := filepath.Base(filepath.Dir(path))
		for other := range candidates {
			if dir := filepath.Base(filepath.Dir(other)); filepath.Base(other) == filepath.Base(rel) && strings.HasPrefix(in, dir) {
				if best = max(best, len(dir)); other == rel {
					own = len(dir)
				}
			}
		}
	}
	return own == best
}

func (f *folder) mentioned(base string) bool {
	has := func(text string) bool { return strings.Contains(text, base) }
	return slices.ContainsFunc(f.mentions, has) ||
		slices.ContainsFunc(f.scripts, func(s Script) bool { return has(executed(s.Name, []byte(s.Text))) })
}

// textual are names that a template's own files have.
func textual(name string) bool {
	base := strings.ToLower(filepath.Base(name))
	if strings.HasPrefix(base, ".") || strings.HasSuffix(base, ".md") {
		return false
	}
	return slices.Contains([]string{"", ".ps1", ".psm1", ".cmd", ".bat", ".xml", ".pkrtpl", ".hcl", ".conf", ".pub", ".pem", ".key"}, filepath.Ext(base))
}
