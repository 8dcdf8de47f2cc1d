package pins

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/payload"
)

// gitSchemes are the protocols that only fetch. Others start a program:
// ext:: runs whatever its address says (git-remote-ext(1)).
var gitSchemes = []string{"https", "ssh", "git", "http", "file"}

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
	_, password := u.User.Password()
	if u.User == nil || u.Scheme == "ssh" && !password {
		return "", "" // ssh needs a user; web servers take tokens instead of one
	}
	what = "git holds credentials, and versions.yaml and its lock are for everybody to read"
	if u.Scheme == "ssh" {
		u.User = url.User(u.User.Username())
		return what, "write " + u.String() + "; ssh takes keys"
	}
	if !password {
		what = "git names a user, in whose place servers take tokens, and versions.yaml and its lock are for everybody to read"
	}
	u.User = nil
	return what, "write " + u.String() + " and let git bring them: git config --global credential.helper store, or url.<URL with credentials>.insteadOf " + u.Scheme + "://" + u.Host + "/"
}

// payload checks a payload path by the rules that package payload has, so that
// nothing is compiled for a path that can't be packed.
func (v *validator) payload(c *Component, at map[string]*yaml.Node) {
	if c.Payload == "" {
		v.report(at[""], fmt.Sprintf("component %s has no payload path", c.Name), "add payload: csi-proxy/csi-proxy.exe")
		return
	}
	what, fix := payload.CheckPath(c.Payload), "give it another path below /payload, with forward slashes"
	if what != "" {
		what = fmt.Sprintf("payload can't be %q: %s", c.Payload, what)
	}
	if what == "" && c.Program() && !strings.EqualFold(path.Ext(c.Payload), ".exe") {
		what, fix = fmt.Sprintf("payload path %s is a program's and doesn't end in .exe", c.Payload), "write payload: "+c.Payload+".exe; Windows starts nothing else"
	}
	if what != "" {
		v.report(at["payload"], what, fix)
	}
}

// nested finds files in the place of a folder that another file needs. paths
// are component names by payload path, in lower case.
func (v *validator) nested(paths map[string]string) {
	for _, c := range v.file.Components {
		for dir := path.Dir(strings.ToLower(c.Payload)); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if other, ok := paths[dir]; ok {
				v.report(c.at["payload"], fmt.Sprintf("payload path %s is below %s, which is component %s's file", c.Payload, dir, other), "give one of them another path")
			}
		}
	}
}
