package lint

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/winscript"
	"github.com/winbake/winbake/packer/lint/internal/command"
)

// downloads: each is held to a sum by itself, before it is used.
func downloads(c *buildChecker) {
	const id = "template.download"
	found := map[string]bool{}
	for _, d := range c.commands() {
		f := finding.Finding{Evidence: d.at()}
		if newest := command.Newest(d.Command); newest != "" {
			f.Observed, f.Expected, f.Remedy = newest+", the newest there is", "a version or a sum", "name a version, such as with Install-Module -RequiredVersion, or bring it along"
		} else if url := command.URL(d.Command, d.in.words); url != "" && !c.isHeld(d) {
			f.Observed, f.Expected = url, "a sum that it's compared with before it is used"
		} else {
			continue
		}
		if key := d.in.Name + f.Observed; !found[key] {
			found[key] = true
			c.add(id, d.in.Name, f)
		}
	}
	for _, r := range c.runs {
		clones := command.Unpinned(r.does.Commands)
		for _, url := range sortedKeys(clones) {
			if key := r.Name + url; !command.IsOwn(url) && !found[key] {
				found[key] = true
				c.add(id, r.Name, finding.Finding{Observed: "git clone of " + url + " without a commit", Expected: "a commit that is checked out",
					Remedy: "git -C FOLDER checkout --detach COMMIT, with all 40 digits: branches and tags can be moved", Evidence: at(r.Name, clones[url].Line)})
			}
		}
	}
	if len(found) == 0 {
		c.pass(id, "downloads", "none without a sum or a version")
	}
}

// isHeld reports whether a download's sum is compared with something before
// anything else is done with the file.
func (c *buildChecker) isHeld(d commandRun) bool {
	file := command.Target(d.Command)
	if file == "" {
		return d.Into != "" && slices.ContainsFunc(d.in.does.Commands, func(s winscript.Command) bool {
			return s.Order > d.Order && slices.Contains(command.Summing, s.Name) && s.Compared && (strings.Contains(s.Text(), "$"+d.Into) || s.Into == d.Into)
		})
	}
	for i := range d.in.does.Commands {
		next := commandRun{d.in.does.Commands[i], d.in}
		if next.Order <= d.Order || !command.Names(next.Command, file) || next.Name == "test-path" || command.Again(next.Command) {
			continue
		}
		if slices.Contains(command.Summing, next.Name) {
			return next.Compared || next.Name == "get-authenticodesignature" || next.Name == "certutil" || d.in.Language == Cmd // which has findstr alone
		}
		if strings.HasPrefix(next.Name, ".") && strings.Contains(next.Name, "read") || next.Name == "get-item" || strings.HasPrefix(next.Name, "write-") || strings.HasPrefix(next.Name, "join-") || strings.HasPrefix(next.Name, "out-") {
			continue
		}
		return false // it is used
	}
	return false
}
