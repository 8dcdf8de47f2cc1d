package catalog

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/version"
)

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
