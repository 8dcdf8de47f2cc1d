package facts

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
)

func versions(rows []catalog.Shipped) string {
	if len(rows) == 0 {
		return "-"
	}
	var all []string
	for i, s := range rows {
		v := cmp.Or(s.Version, "unknown")
		if i > 0 && s.FromZ != nil {
			v += fmt.Sprintf(" (.%d)", *s.FromZ)
		}
		all = append(all, v)
	}
	return strings.Join(all, ", ")
}

func patches(minor string, s catalog.Shipped) string {
	text := "all"
	switch {
	case s.FromZ != nil && s.UntilZ != nil:
		text = fmt.Sprintf("%s.%d to .%d", minor, *s.FromZ, *s.UntilZ)
	case s.FromZ != nil:
		text = fmt.Sprintf("from %s.%d", minor, *s.FromZ)
	case s.UntilZ != nil:
		text = fmt.Sprintf("to %s.%d", minor, *s.UntilZ)
	}
	if s.Head != "" {
		text += " (head of the branch on " + s.Head + ")"
	}
	if s.FuzzyZ > 0 {
		text += fmt.Sprintf(" (give or take %d)", s.FuzzyZ)
	}
	return text
}

// between is a range of versions; until "" is an open one.
func between(from, until string) string {
	if until == "" {
		return "from " + from
	}
	return from + " to before " + until
}

func api(uses []catalog.APIUse) string {
	var all []string
	for _, u := range uses {
		all = append(all, u.Group+" "+strings.Join(u.Versions, "|"))
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

// servers are the Windows Server versions of builds.
var servers = map[int]string{17763: "2019", 20348: "2022", 26100: "2025"}

func builds(list []int) string {
	var all []string
	for _, b := range list {
		text := fmt.Sprint(b)
		if server := servers[b]; server != "" {
			text += " (" + server + ")"
		}
		all = append(all, text)
	}
	return cmp.Or(strings.Join(all, ", "), "not known")
}

func images(p *catalog.Publication) string {
	text := p.Repository
	switch {
	case text == "" && len(p.Former) > 0:
		text = "nowhere any more"
	case text == "":
		text = "not known"
	}
	if len(p.Also) > 0 {
		text += " (also " + strings.Join(p.Also, ", ") + ")"
	}
	if p.Unsure {
		text += ", not every version's was seen there"
	}
	if len(p.Former) > 0 {
		text += "; gone: " + strings.Join(p.Former, ", ")
	}
	return text
}

// manifest is what brings the DaemonSet; {{version}} in it is for one of
// the range.
func manifest(p *catalog.Publication) string {
	text := ""
	switch {
	case p.Deploys != "":
		return p.Deploys + " brings the DaemonSet"
	case p.Render != "":
		return p.Render
	case p.HasManifest():
		text = p.Manifest
	default:
		return "where the manifest is wasn't seen"
	}
	if p.SetImage {
		text += ", with its image set to that of the version"
	}
	if len(p.Missing) > 0 {
		text += ", which isn't there for " + strings.Join(p.Missing, ", ")
	}
	return text
}
