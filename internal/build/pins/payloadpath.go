package pins

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/base/winname"
	yaml "go.yaml.in/yaml/v3"
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
		return "", "" // ssh needs a user; web servers take tokens in place of one
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
	what, fix := payloadPath(c.Payload)
	if what == "" && c.Program() && !strings.EqualFold(path.Ext(c.Payload), ".exe") {
		what, fix = fmt.Sprintf("payload path %s is a program's and doesn't end in .exe", c.Payload), "write payload: "+c.Payload+".exe; Windows starts nothing else"
	}
	if what != "" {
		v.report(at["payload"], what, fix)
	}
}

// payloadPath says what is wrong with a path below /payload, and what fixes it.
func payloadPath(p string) (what, fix string) {
	if !cleanPath(p) {
		return fmt.Sprintf("payload can't be %q", p), "write a path below /payload, with forward slashes and without .."
	}
	first, _, _ := strings.Cut(strings.ToLower(p), "/")
	switch {
	case first == "sha256sum", first == "generated":
		return fmt.Sprintf("payload path %s is the operator's own", p), "give it another path"
	case strings.Contains(p, "  "):
		return fmt.Sprintf("payload path %q has two spaces in a row, and the operator splits its checksum file there", p), "write one"
	}
	for name := range strings.SplitSeq(p, "/") {
		if what := fileName(name); what != "" {
			return fmt.Sprintf("payload can't be %q: %s", p, what), "give it another name"
		}
	}
	return "", ""
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
