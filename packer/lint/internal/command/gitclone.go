package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/winscript"
)

var (
	gitURL = regexp.MustCompile(`(?i)^["']?((https?|ssh|git)://|[\w.-]+@[\w.-]+:)`)
	commit = regexp.MustCompile(`(?i)(^|[\s=])([0-9a-f]{40}|[0-9a-f]{64})(\s|$)`)
	// moves are commands after which a script works in another folder.
	moves = []string{"set-location", "push-location", "pushd", "chdir", "cd"}
)

// Unpinned are a script's clones of another machine's repository, by their URLs, of
// which it checks no commit out.
func Unpinned(script []winscript.Command) map[string]winscript.Command {
	found := map[string]winscript.Command{}
	for i, c := range script {
		if url := repository(c); url != "" && !checkedOut(script[i:], url) {
			found[url] = c
		}
	}
	return found
}

// repository is the URL that a git clone has, "" for a folder's path.
func repository(c winscript.Command) string {
	words := c.Words()
	if i := slices.IndexFunc(words, gitURL.MatchString); i >= 0 && c.Name == "git" && slices.Contains(words, "clone") {
		return words[i]
	}
	return ""
}

// checkedOut reports whether a clone, the first of these commands, is of a commit, or
// one is checked out in it by those after it.
func checkedOut(script []winscript.Command, url string) bool {
	clone, into := script[0].Words(), url
	if i := slices.Index(clone, url) + 1; i < len(clone) && !strings.HasPrefix(clone[i], "-") {
		into = clone[i]
	}
	into = folderOf(into)
	about := func(c winscript.Command) bool {
		return !c.Known() || slices.ContainsFunc(c.Words(), func(w string) bool { return folderOf(w) == into })
	}
	here := true // whether git works in this clone
	for i, c := range script {
		switch {
		case slices.Contains(moves, c.Name):
			here = about(c)
		case c.Name != "git":
		case c.Known() && !commit.MatchString(c.Text()):
			here = here && (i == 0 || repository(c) == "")
		case i == 0 || here && !elsewhere(c) || about(c):
			return true
		}
	}
	return false
}

// elsewhere reports whether a call of git names the folder that it works in: -C, and
// not -c with a setting.
func elsewhere(c winscript.Command) bool {
	words := c.Words()
	i := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, "-c") }) + 1
	return i > 0 && i < len(words) && !strings.Contains(words[i], "=")
}

// folderOf is the name of a path's or URL's last part.
func folderOf(path string) string {
	path = strings.TrimRight(strings.ReplaceAll(strings.ToLower(strings.Trim(path, `"'`)), `\`, "/"), "/")
	return strings.TrimSuffix(path[strings.LastIndexAny(path, "/:")+1:], ".git")
}
