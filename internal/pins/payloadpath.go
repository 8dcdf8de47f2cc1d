package pins

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/winname"
)

// File systems take names of 255 bytes (NAME_MAX). An archived payload puts
// .tar.gz behind them, and a build has longer ones for its own folders.
const (
	maxFileName      = 255 - len(".tar.gz")
	maxComponentName = 200
)

// fileName says why a part of a path can't be a file's name on a node, or in
// the layer of an image.
func fileName(name string) string {
	switch wrong := winname.Check(name); {
	case wrong != "":
		return wrong
	case len(name) > maxFileName:
		return fmt.Sprintf("a name of %d bytes, and %d are possible", len(name), maxFileName)
	case strings.HasPrefix(name, ".wh."):
		return ".wh. is an image layer's mark for a deleted file"
	}
	return ""
}

// gitSchemes are the protocols that only fetch. Others start a program:
// ext:: runs whatever its address says (git-remote-ext(1)).
var gitSchemes = []string{"https", "ssh", "git", "http", "file"}

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

// gitURL says what is wrong with a git source's address, and what fixes it.
func gitURL(address string) (what, fix string) {
	what, fix = "git can't be "+strconv.Quote(masked(address)), "write https://, ssh://, git://, http:// or file:// and the rest of the URL, user@host:path, or the whole path of a folder"
	scheme, _, hasScheme := strings.Cut(address, "://")
	switch {
	case strings.IndexFunc(address, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0:
		return what, fix
	case strings.HasPrefix(address, "/"):
		return "", ""
	case !hasScheme && scpForm.MatchString(address):
		return "", ""
	case !hasScheme || !slices.Contains(gitSchemes, scheme):
		return what, fix
	}
	u, err := url.Parse(address)
	if err != nil || strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-") || u.Host == "" && scheme != "file" {
		return what, fix
	}
	if !holdsSecret(u) {
		return "", ""
	}
	what = "git holds credentials, and versions.yaml and its lock are for everybody to read"
	if u.Scheme == "ssh" {
		u.User = url.User(u.User.Username())
		return what, "write " + u.String() + "; ssh takes keys"
	}
	if _, password := u.User.Password(); !password {
		what = "git names a user, in whose place servers take tokens, and versions.yaml and its lock are for everybody to read"
	}
	u.User = nil
	return what, "write " + u.String() + " and let git bring them: git config --global credential.helper store, or url.<URL with credentials>.insteadOf " + u.Scheme + "://" + u.Host + "/"
}

// holdsSecret tells whether a URL names a password, or a user where that may
// be a token: web servers take one in its place.
func holdsSecret(u *url.URL) bool {
	if u.User == nil {
		return false
	}
	_, password := u.User.Password()
	return password || u.Scheme != "ssh"
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
