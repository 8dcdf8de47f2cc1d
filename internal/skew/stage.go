package skew

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// stage is a Windows driver as the plan's steps so far leave it.
type stage struct {
	inventory.Driver
	cat *catalog.Driver
	// baked: it is bake's DaemonSet by now, and has another name; file is where
	// that one was written to.
	baked bool
	file  string
}

// stage takes the drivers up when they first appear, and takes those away that
// an operator of the hop's release replaces.
func (p *planner) stage(w *world) {
	for _, v := range w.Views {
		key := v.D.Object.String()
		s, seen := p.stages[key]
		if !seen && v.Catalog != nil && !v.Moves() {
			s = &stage{Driver: *v.D, cat: v.Catalog}
			p.stages[key] = s
			p.mended(w, v, s)
		}
		if s != nil && p.replaced(w, v) {
			p.stages[key] = nil
		}
	}
}

// replaced tells whether the plan deletes a DaemonSet before the hop is over.
func (p *planner) replaced(w *world, v *view) bool {
	to := w.cat.Release(w.to())
	return to != nil && slices.Contains(to.WindowsManaged, v.Catalog.Name) || slices.ContainsFunc(p.sink.entries, func(e *entry) bool {
		return e.ID == "REG002" && e.Severity == finding.Block && e.Object == v.D.Object.String() && e.hop <= w.Hop
	})
}

// mended does to a driver what the steps of its findings do. Those of the planned
// manifests change a file.
func (p *planner) mended(w *world, v *view, s *stage) {
	for _, e := range p.sink.entries {
		if e.Object == v.D.Object.String() && e.Phase != string(Planned) && e.hop <= w.Hop && !e.noStep && e.step != nil {
			s.become(e.step.baked, e.step.file)
			if e.step.hostProcess {
				s.HostProcess, s.Pipes = true, nil
			}
			s.set(e.step.to)
		}
	}
}

// set moves the driver to a version.
func (s *stage) set(to version.Driver) {
	if to.IsZero() {
		return
	}
	line := s.cat.Line(to)
	if line != nil && s.HostProcess {
		s.HostProcessFlag = nil
		if given := true; line.Flag != "" {
			s.HostProcessFlag = &given
		}
	}
	if line != nil && line.HostProcess == catalog.HostProcessMandatory {
		s.HostProcess, s.Pipes = true, nil
	} else if line != nil && !s.HostProcess && missingGroup(&s.Driver, line) != "" {
		s.Pipes = nil
		for _, use := range line.API {
			s.Pipes = append(s.Pipes, inventory.Pipe{Group: use.Group, Version: use.Versions[0]})
		}
	}
	s.Version = inventory.VersionFact{Version: to, Known: true}
}

// target is the version that the driver follows to at a hop; the zero value
// where it stays: it is there, it is ahead, or the Linux version isn't known.
func (s *stage) target(v *view) version.Driver {
	to := v.Linux().Newest()
	if !to.IsZero() {
		to = v.fit(&s.Driver, to)
	}
	if to.IsZero() || s.Version.Known && (to.Major < s.Version.Version.Major || to.Major == s.Version.Version.Major && to.Minor <= s.Version.Version.Minor) {
		return version.Driver{}
	}
	return to
}

func (p *planner) file() bool { return p.req.Static }

// follow lets the driver go to the version closest to the Linux one.
func (p *planner) follow(v *view, s *stage) {
	if v.Hops == 0 {
		return // the findings' own steps say it
	}
	if v.Hop == v.Hops-1 && p.planned(v, s) {
		return
	}
	to := s.target(v)
	if to.IsZero() {
		return
	}
	c, again := change{}, false
	if s.baked {
		c, again = v.bakedAgain(&s.Driver, to, p.file())
	}
	if !again {
		c = v.changeOf(&s.Driver, s.HostProcess, to, p.file())
	}
	step := Step{Hop: v.Hop, When: after, What: c.What, Command: c.Command, Rules: []string{"SKEW001"}}
	step.Why = fmt.Sprintf("Linux runs %s from this update on", v.Linux())
	if known := p.lifts(v, s, to); known != nil {
		step.Rules = append(step.Rules, "SKEW003")
		step.Why += "; it must be done before the next update: " + known.Why
	}
	if c.Command != "" {
		step.Command += "\n" + c.rollout(&s.Driver)
	}
	if c.Manifest && !again {
		step.Rules = append(step.Rules, "HP005")
		slices.Sort(step.Rules)
	}
	p.add(step)
	s.become(c.baked, c.file)
	s.set(to)
}

// become notes that bake's DaemonSet took the driver's place.
func (s *stage) become(baked bool, file string) {
	if baked {
		s.baked, s.file = true, file
	}
}

// lifts is a pair of versions that the next hop would make with the driver as it
// is, and doesn't with the one that it changes to; nil for none.
func (p *planner) lifts(v *view, s *stage, to version.Driver) *catalog.Incompatibility {
	for _, w := range p.moments {
		if w.Hop != v.Hop+1 || w.Phase != Target {
			continue
		}
		for _, next := range w.Views {
			for _, known := range p.cat.Incompatibilities(s.cat.Name) {
				holds := func(windows version.Driver) bool {
					_, some := next.Linux().judge(func(l version.Driver) bool { return known.Holds(l, windows) })
					return some
				}
				if next.D.Object == s.Object && s.Version.Known && holds(s.Version.Version) && !holds(to) {
					return &known
				}
			}
		}
	}
	return nil
}

// planned tells of the planned manifests that are to take the driver's place.
func (p *planner) planned(v *view, s *stage) bool {
	list := p.plannedChanges(v.D)
	for i, c := range list {
		if s.baked && i == 0 && c.Command != "" {
			// An earlier step put bake's in its place.
			own := fmt.Sprintf("oc %sdelete daemonset %s\n", namespace(v.D), v.D.Object.Name)
			c.Command = laidOut("oc delete -f "+s.file, strings.ReplaceAll(c.Command, own, ""))
		}
		p.applyPlanned(v.Hop, c, fmt.Sprintf("Linux runs %s from this update on", v.Linux()))
	}
	return len(list) > 0
}

func (p *planner) applyPlanned(hop int, c change, why string) {
	s := Step{Hop: hop, When: after, Rules: []string{"SKEW001"}, What: c.What, Command: c.Command, Why: why}
	if c.Command != "" {
		s.Command += "\noc rollout status -f " + c.file
	}
	p.add(s)
}

// newlyPlanned applies the planned manifests that take nothing's place.
func (p *planner) newlyPlanned(w *world) {
	for _, d := range p.plannedWindows() {
		to := w.CatalogRelease()
		if len(p.predecessors()[d]) > 0 || to != nil && slices.Contains(to.WindowsManaged, d.Line) {
			continue
		}
		p.applyPlanned(w.Hop, p.plannedFileChange(plannedFile(d)), "it was planned")
	}
}

func versionText(d *inventory.Driver) string {
	if !d.Version.Known {
		return "version unknown"
	}
	return "v" + d.Version.Version.String()
}

// mendPairs raises the driver before a hop that makes an incompatible pair.
func (p *planner) mendPairs(v *view, s *stage) {
	for _, known := range p.cat.Incompatibilities(s.cat.Name) {
		hits := func(w version.Driver) bool {
			_, some := v.Linux().judge(func(l version.Driver) bool { return known.Holds(l, w) })
			return some
		}
		if !s.Version.Known || !hits(s.Version.Version) {
			continue
		}
		step := Step{Hop: v.Hop, When: known.When, What: s.Object.String() + ": " + known.Remedy, Why: known.Why, Rules: []string{"SKEW003"}}
		for _, l := range []*linuxSide{&v.LinuxNow, &v.LinuxTarget} {
			if to := l.Newest(); l.Known() && !hits(to) {
				c := v.changeOf(&s.Driver, s.HostProcess, to, p.file())
				step.What, step.Command = c.What, c.Command
				s.set(to)
				break
			}
		}
		p.add(step)
	}
}

// prepare announces a manifest that needs other rights, before the hop after
// which it is due.
func (p *planner) prepare(v *view, s *stage) {
	to := s.target(v)
	line := s.cat.Line(to)
	if v.Hops == 0 || to.IsZero() || s.HostProcess || line == nil || line.HostProcess != catalog.HostProcessMandatory {
		return
	}
	if b, ok := v.bakes(&s.Driver, to, true); ok {
		if v.Hop == v.Hops-1 && len(p.plannedFor(v.D)) > 0 {
			return // it is written already
		}
		of := ""
		if b.keeps != nil {
			of = " for the nodes of " + s.Object.String()
		}
		p.add(Step{
			Hop: v.Hop, When: before, Rules: []string{"HP005"}, Command: laidOut(b.fetch(), b.command()),
			What: fmt.Sprintf("write the HostProcess DaemonSet of %s v%s%s, and look at it", s.cat.Title, to.Core(), of),
			Why:  fmt.Sprintf("%s works only as a HostProcess container from %s on", s.cat.Title, line.From),
		})
		return
	}
	step := Step{
		Hop: v.Hop, When: before, Rules: []string{"HP005"},
		What: fmt.Sprintf("prepare the HostProcess manifest of %s v%s%s, and let privileged pods run in its namespace", s.cat.Title, to.Core(), v.placeText(to)),
		Why:  fmt.Sprintf("%s works only as a HostProcess container from %s on", s.cat.Title, line.From),
	}
	if !p.inv.Cluster.Namespace(s.Object.Namespace).Privileged() {
		step.Command = privilegeCommands(&s.Driver)
	}
	p.add(step)
}

// newcomersFollow lets drivers that the plan deployed follow the Linux version.
func (p *planner) newcomersFollow(w *world) {
	for _, e := range p.sink.entries {
		if e.deploys == nil || e.hop != w.Hop {
			continue
		}
		if _, known := p.newcomers[e.deploys.driver]; !known {
			p.newcomers[e.deploys.driver] = e.deploys.version
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.newcomers)) {
		cat, have := p.cat.Driver(name), p.newcomers[name]
		l := p.byRelease(cat, w.To)
		to := l.Newest()
		if w.Hops == 0 || to.IsZero() || to.SameMinor(have) || to.Compare(have) < 0 {
			continue
		}
		p.newcomers[name] = to
		p.add(Step{
			Hop: w.Hop, When: after, Rules: []string{"SKEW001"},
			What:    fmt.Sprintf("bring the Windows DaemonSet of %s to v%s", cat.Title, to.Core()),
			Command: w.newDaemonSet(cat, w.To, w.windowsNodes()),
			Why:     fmt.Sprintf("Linux runs %s from this update on", &l),
		})
	}
}
