package vcenter

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/test/wine/winenode"
	"github.com/winbake/winbake/test/wine/winenode/script"
)

// packersOwn are scripts that Packer writes around a provisioner's.
var packersOwn = regexp.MustCompile(`(?i)\\packer-(ps-env-vars|elevated-shell|cleanup)-[^\\]*\.ps1$`)

// password is filled in by now, which is a fault only in a template.
var password = regexp.MustCompile(`(?i)(password>\s*<value>)[^<]*(</value>)`)

// arrived are the files that a build has brought to the guest so far, each once.
func (g *Guest) arrived() []winenode.File {
	var all []winenode.File
	for _, s := range g.node.Steps() {
		all = append(all, s.Scripts...)
	}
	all = append(all, g.node.Uploads()...)
	known := map[string]bool{}
	return slices.DeleteFunc(all, func(f winenode.File) bool {
		key := strings.ToLower(f.Path)
		again := known[key]
		known[key] = true
		return again || packersOwn.MatchString(f.Path)
	})
}

// stops are the problems of an answer file at which Windows Setup or sysprep stops.
var stops = []answer.Kind{answer.KindXML, answer.KindIdentity, answer.KindAutoLogon, answer.KindSetup, answer.KindDisk}

// broken says what Windows wouldn't take of these files: answer files that it stops
// at, and scripts that PowerShell can't parse.
func broken(files []winenode.File) []string {
	var said []string
	for _, f := range files {
		switch name := strings.ToLower(base(f)); path.Ext(name) {
		case ".xml":
			data := password.ReplaceAll(f.Data, []byte("$1$${password}$2"))
			for _, p := range answer.Check(data, !strings.HasPrefix(name, "auto")) {
				if slices.Contains(stops, p.Kind) {
					said = append(said, fmt.Sprintf("%s:%d: %s", f.Path, p.Line, p.What))
				}
			}
		case ".ps1", ".psm1":
			if wrong := script.Check(script.Decode(f.Data)); wrong != nil {
				said = append(said, fmt.Sprintf("%s:%v", f.Path, wrong))
			}
		}
	}
	return said
}

func base(f winenode.File) string { return path.Base(strings.ReplaceAll(f.Path, `\`, "/")) }
