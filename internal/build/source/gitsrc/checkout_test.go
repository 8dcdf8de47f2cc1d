package gitsrc

import (
	"path/filepath"
	"strings"
	"testing"
)

// checkout fetches a commit into a cache of its own and checks it out.
func checkout(t *testing.T, url, hash string, submodules bool) (dir string, err error) {
	t.Helper()
	c, err := NewCache(t.TempDir()).Fetch(t.Context(), url, hash)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "tree")
	return dir, c.Checkout(t.Context(), dir, submodules)
}

func TestCheckout(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		files  map[string]string
	}{
		"plain": {files: map[string]string{"a": "1\n", "sub/b": "2", "empty": "", "crlf": "x\r\ny\r\n"}},
		"a person's line ends": {
			config: "[core]\n\tautocrlf = true\n\teol = crlf\n\tsymlinks = false\n\tfileMode = false\n",
			files:  map[string]string{"a": "1\n2\n"},
		},
		"the tree's line ends":     {files: map[string]string{".gitattributes": "*.ps1 text eol=crlf\n", "a.ps1": "1\n2\n", "b": "1\n"}},
		"both line ends":           {files: map[string]string{".gitattributes": "* text eol=crlf\n", "a": "1\n2\r\n"}},
		"text by guess":            {files: map[string]string{".gitattributes": "* text=auto\n", "a": "1\r\n2\r\n", "b": "1\n"}},
		"text that never was made": {files: map[string]string{".gitattributes": "* text\n", "a": "1\r\n2\r\n"}},
		"an encoding":              {files: map[string]string{".gitattributes": "* text working-tree-encoding=UTF-16LE\n", "a": "1\n"}},
		"keywords":                 {files: map[string]string{".gitattributes": "* ident\n", "a": "$Id$\n", "b": "$Id: 12 $\n"}},
		"a folder's attributes":    {files: map[string]string{"sub/.gitattributes": "a crlf\n", "sub/a": "1\r\n"}},
		"what archives leave out":  {files: map[string]string{".gitattributes": "b export-ignore\n", "a": "1", "b": "2"}},
		"an ignored file":          {files: map[string]string{".gitignore": "*.exe\nvendor/\n", "a.exe": "1", "vendor/a": "2"}},
		"a person's ignored file":  {config: "[core]\n\texcludesFile = EXCLUDES\n", files: map[string]string{"a.exe": "1", "EXCLUDES": "*\n"}},
		"a person's filter": {
			config: "[filter \"x\"]\n\tsmudge = sed s/1/2/\n\tclean = sed s/2/1/\n\trequired = true\n",
			files:  map[string]string{".gitattributes": "* filter=x\n", "a": "1\n"},
		},
		"a path with blanks": {files: map[string]string{"a b": "1", "ü/c": "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			person(t, c.config)
			u := newUpstream(t)
			dir, err := checkout(t, u.url(), u.commit("", c.files), false)
			if err != nil {
				t.Fatal(err)
			}
			wantFiles(t, dir, c.files)
		})
	}
}

func TestCheckoutIntoAFolderThatIsThere(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	c, err := NewCache(t.TempDir()).Fetch(t.Context(), u.url(), u.commit("", map[string]string{"a": "1"}))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "b"), "left over")
	wantFault(t, c.Checkout(t.Context(), dir, false), u.url()+"@"+c.Hash, "isn't what the commit says: b differ", "an empty folder")
}

// local lets submodules come from file:// URLs, which git refuses by default
// (https://git-scm.com/docs/git-config, protocol.allow).
const local = "[protocol \"file\"]\n\tallow = always\n"

func modules(url string) string {
	return "[submodule \"lib\"]\n\tpath = lib\n\turl = " + url + "\n"
}

func TestCheckoutSubmodules(t *testing.T) {
	sub := func(t *testing.T) (*upstream, string) {
		u := newUpstream(t)
		u.t = t
		return u, u.commit("", map[string]string{"lib.go": "package lib\n", ".gitattributes": "* text\n", "crlf": "1\r\n"})
	}
	for name, c := range map[string]struct {
		url    func(lib *upstream) string
		origin func(u *upstream) string
	}{
		"by URL":    {func(lib *upstream) string { return lib.url() }, (*upstream).url},
		"by mirror": {func(*upstream) string { return "https://example.com/lib.git" }, (*upstream).url},
		"relative":  {func(*upstream) string { return "../lib.git" }, func(*upstream) string { return "https://example.com/main.git" }},
	} {
		t.Run(name, func(t *testing.T) {
			person(t, "")
			u := newUpstream(t)
			lib, commit := sub(t)
			person(t, local+"[url \""+lib.url()+"\"]\n\tinsteadOf = https://example.com/lib.git\n"+
				"[url \""+u.url()+"\"]\n\tinsteadOf = https://example.com/main.git\n")
			files := map[string]string{".gitmodules": modules(c.url(lib)), "a": "1", "lib": "submodule " + commit}
			hash := u.commit("", files)
			dir, err := checkout(t, c.origin(u), hash, true)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{".gitmodules": files[".gitmodules"], "a": "1"}
			bare := dir
			for path, text := range map[string]string{"lib/lib.go": "package lib\n", "lib/.gitattributes": "* text\n", "lib/crlf": "1\r\n"} {
				want[path] = text
			}
			wantFiles(t, bare, want)

			if dir, err = checkout(t, c.origin(u), hash, false); err != nil {
				t.Fatal(err)
			}
			wantFiles(t, dir, map[string]string{".gitmodules": files[".gitmodules"], "a": "1"})
		})
	}
}

func TestCheckoutSubmoduleThatCannotBeHad(t *testing.T) {
	person(t, local)
	lib := newUpstream(t)
	commit := lib.commit("", map[string]string{"a": "1"})
	for name, c := range map[string]struct{ url, commit string }{
		"no repository": {lib.url() + ".none", commit},
		"no commit":     {lib.url(), strings.Repeat("a", 40)},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			hash := u.commit("", map[string]string{".gitmodules": modules(c.url), "lib": "submodule " + c.commit})
			_, err := checkout(t, u.url(), hash, true)
			wantFault(t, err, "a submodule can't be fetched", "insteadOf", u.url()+"@"+hash)
		})
	}
}
