package catalog

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/version"
)

var hostProcessModes = []HostProcess{HostProcessNone, HostProcessOptional, HostProcessDefault, HostProcessMandatory}

func (k *checker) checkDrivers() {
	provisioners, inTree, payloads := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, d := range k.into.Drivers {
		r := k.row(sectionDrivers, d.Name)
		r.wanted(d.Name, "name")
		r.wanted(d.Title, "title")
		r.wanted(d.Provisioner, "provisioner")
		r.evidence(d.Evidence)
		r.single(provisioners, d.Provisioner, "provisioner")
		r.single(inTree, d.InTree, "inTree")
		r.single(payloads, d.Payload, "payload")
		for i, line := range d.Lines {
			r.line(i, line)
		}
		r.lines(d.Lines)
		r.published(d.Published)
	}
}

// single demands that no other row has the value.
func (r rowCheck) single(seen map[string]bool, value string, path ...any) {
	if value != "" && seen[value] {
		r.badAt(path, fmt.Sprintf("another driver has the %v %s too", path[0], printable.Quote(value)), "correct one of them")
	}
	seen[value] = true
}

func (r rowCheck) line(i int, l Line) {
	from := r.version(l.From, "lines", i, "from")
	if l.Until != "" {
		if until := r.version(l.Until, "lines", i, "until"); from.Compare(until) >= 0 {
			r.badAt([]any{"lines", i, "until"}, fmt.Sprintf("the line ends at %s, before it begins at %s", printable.Clip(l.Until), printable.Clip(l.From)), "until is the first version that isn't in the line")
		}
	}
	oneOf(r, l.HostProcess, hostProcessModes, "lines", i, "hostProcess")
	r.evidence(l.Evidence, "lines", i)
	if l.Flag != "" && !strings.HasPrefix(l.Flag, "--") {
		r.badAt([]any{"lines", i, "flag"}, "a flag begins with two dashes", "write --"+strings.TrimLeft(printable.Clip(l.Flag), "-"))
	}
	for j, use := range l.API {
		r.apiUse(use, "lines", i, "api", j)
	}
	if l.HostProcess == HostProcessMandatory && len(l.API) > 0 {
		r.badAt([]any{"lines", i, "api"}, "a line that must be a HostProcess container dials no csi-proxy", "remove api, or correct hostProcess")
	}
}

func (r rowCheck) apiUse(use APIUse, path ...any) {
	if !group.MatchString(use.Group) {
		r.badAt(append(path, "group"), fmt.Sprintf("csi-proxy has no group %s", printable.Quote(use.Group)), "write disk, filesystem, smb, volume, system or iscsi")
	}
	if len(use.Versions) == 0 {
		r.badAt(path, "the versions are missing", "write them in the order in which they are tried: versions: [v1, v1beta2]")
	}
	for i, v := range use.Versions {
		if !apiVer.MatchString(v) {
			r.badAt(append(path, "versions", i), fmt.Sprintf("%s is no API version", printable.Quote(v)), "write v1 or v1beta2")
		}
	}
}

func (r rowCheck) lines(lines []Line) {
	for i := 1; i < len(lines); i++ {
		before, here := lines[i-1], lines[i]
		switch {
		case before.Until == "":
			r.badAt([]any{"lines", i - 1}, fmt.Sprintf("the line from %s has no end, and another follows", printable.Clip(before.From)), "write until: "+printable.Clip(here.From))
		case parseDriver(before.Until).Compare(parseDriver(here.From)) != 0:
			r.badAt([]any{"lines", i, "from"}, fmt.Sprintf("the line before ends at %s and this one begins at %s", printable.Clip(before.Until), printable.Clip(here.From)), "begin each line where the one before it ends")
		}
	}
}

func (k *checker) checkCSIProxy() {
	for _, p := range k.into.CSIProxy {
		r := k.row(sectionCSIProxy, p.Version)
		r.version(p.Version, "version")
		r.evidence(p.Evidence)
		r.matches(day, p.Date, "day", `write it as "2023-08-23"`, "date")
		if p.Commit != "" && !commitHex.MatchString(p.Commit) {
			r.badAt([]any{"commit"}, fmt.Sprintf("%s is no commit", printable.Quote(p.Commit)), "write 12 to 40 digits of 0-9a-f")
		}
		if len(p.Groups) == 0 {
			r.bad("the groups are missing", "write the pipes that it serves: groups: [disk-v1, ...]")
		}
		for i, pipe := range p.Groups {
			name, api, _ := strings.Cut(pipe, "-")
			if !group.MatchString(name) || !apiVer.MatchString(api) {
				r.badAt([]any{"groups", i}, fmt.Sprintf("%s is no group with its version", printable.Quote(pipe)), "write disk-v1")
			}
		}
	}
}

func (k *checker) checkWMCO() {
	var before *WMCORelease
	for i := range k.into.WMCO {
		w := &k.into.WMCO[i]
		r := k.row(sectionWMCO, w.From)
		from, err := version.ParseWMCO(w.From)
		if err != nil {
			r.badAt([]any{"from"}, err.Error(), "write it as 10.19.0")
		}
		if before != nil && (before.Until == "" || from.Compare(parseWMCO(before.Until)) < 0) {
			r.badAt([]any{"from"}, fmt.Sprintf("the range from %s holds this version already", printable.Clip(before.From)), "let each range begin where the one before it ends, or later")
		}
		r.wmcoEnd(from, w.Until)
		r.evidence(w.Evidence)
		r.release(w.OpenShift, "openshift")
		if w.CSIProxy != "" && !k.proxies[w.CSIProxy] {
			r.badAt([]any{"csiProxy"}, fmt.Sprintf("there is no csi-proxy %s", printable.Quote(w.CSIProxy)), "write a version of the section csiProxy")
		}
		before = w
	}
}

// wmcoEnd demands an end after the beginning, or none.
func (r rowCheck) wmcoEnd(from version.WMCO, s string) {
	if s == "" {
		return
	}
	until, err := version.ParseWMCO(s)
	if err == nil && until.Compare(from) <= 0 {
		err = fmt.Errorf("the range ends at %s, before it begins at %s", until, from)
	}
	if err != nil {
		r.badAt([]any{"until"}, err.Error(), "until is the first version that isn't in the range: 10.20.0")
	}
}

// published demands that each row says where something is, and that no two
// rows of a kind hold the same version.
func (r rowCheck) published(list []Publication) {
	last := map[bool]*Publication{}
	for i := range list {
		p := &list[i]
		from := r.version(p.From, "published", i, "from")
		if p.Until != "" {
			if until := r.version(p.Until, "published", i, "until"); from.Compare(until) >= 0 {
				r.badAt([]any{"published", i, "until"}, fmt.Sprintf("the row ends at %s, before it begins at %s", printable.Clip(p.Until), printable.Clip(p.From)), "until is the first version that isn't in the row")
			}
		}
		if before := last[p.HostProcess]; before != nil && (before.Until == "" || from.Compare(parseDriver(before.Until)) < 0) {
			r.badAt([]any{"published", i, "from"}, fmt.Sprintf("the row from %s holds this version already", printable.Clip(before.From)), "let each row of a kind begin where the one before it ends, or later")
		}
		last[p.HostProcess] = p
		r.evidence(p.Evidence, "published", i)
		r.place(i, p)
	}
}

func (r rowCheck) place(i int, p *Publication) {
	ways := 0
	for _, way := range []string{p.Manifest, p.Render, p.Deploys} {
		if way != "" {
			ways++
		}
	}
	if ways != 1 {
		r.badAt([]any{"published", i}, fmt.Sprintf("%d of manifest, render and deploys are given", ways), "say in one way how the DaemonSet is had; where that isn't known: manifest: "+unseen)
	}
	if p.Manifest != "" && p.Manifest != unseen && !isTemplate(p.Manifest) {
		r.badAt([]any{"published", i, "manifest"}, fmt.Sprintf("%s is no URL with %s in it", printable.Quote(p.Manifest), placeholder), "write https://.../v"+placeholder+"/... or "+unseen)
	}
	for j, v := range p.Missing {
		if _, err := version.ParseDriver(v); err != nil {
			r.badAt([]any{"published", i, "missing", j}, err.Error(), "write it as 1.33.1")
		}
	}
	r.repository(p.Repository, "published", i, "repository")
	for j, repository := range p.Also {
		r.repository(repository, "published", i, "also", j)
	}
	for j, repository := range p.Former {
		r.repository(repository, "published", i, "former", j)
	}
}

// repository demands an image's place without a tag or a digest.
func (r rowCheck) repository(s string, at ...any) {
	last := s[strings.LastIndex(s, "/")+1:]
	if strings.ContainsAny(last, ":@") || strings.ContainsAny(s, " \t") {
		r.badAt(at, fmt.Sprintf("%s is no repository", printable.Quote(s)), "write it without tag and digest, as registry.k8s.io/csi-vsphere/driver")
	}
}

func isTemplate(s string) bool {
	u, err := url.Parse(strings.ReplaceAll(s, placeholder, "1.0.0"))
	return err == nil && u.Scheme == "https" && u.Host != "" && strings.Contains(s, placeholder)
}
