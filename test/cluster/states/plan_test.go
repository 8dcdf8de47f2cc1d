package states

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

// steps are a plan's, in JSON.
func steps(t *testing.T, asked []string) []step {
	t.Helper()
	out := run(t, append([]string{"skew", "-o", "json"}, asked...)...)
	var report struct{ Steps []step }
	if err := json.Unmarshal([]byte(out.stdout), &report); err != nil {
		t.Fatalf("%v: %s%s", err, out.stdout, out.stderr)
	}
	return report.Steps
}

type step struct {
	Hop        int
	When, What string
	Actions    []finding.Action
}

// unfinished are the states whose plan doesn't come to what it should, with what it
// comes to: shorter is better.
var unfinished = map[string]string{}

// every plan takes minutes; as few as have each action after each other one are the default.
var every = flag.Bool("every", false, "run the plans of all states, and not only of as many as have all that differs")

// actionKinds are what a plan's actions do, in their order.
func actionKinds(list []step) (kinds []string) {
	for _, s := range list {
		for _, a := range s.Actions {
			kinds = append(kinds, a.Kind)
		}
	}
	return kinds
}

// sample are as few states as have, in their plans, each action after each other one that
// any state's plan has it after: of those left always the one with the most that is new.
func sample(t *testing.T) (plans []*state) {
	t.Helper()
	all := states()
	left := map[*state][][2]string{}
	for i := range all {
		s := &all[i]
		if s.to != "" && len(s.cluster.offered) == 0 {
			s.cluster.offered = offeredTo(s)
		}
		last := ""
		for _, kind := range append(actionKinds(steps(t, s.asked(t, t.TempDir()))), "") {
			left[s] = append(left[s], [2]string{last, kind})
			last = kind
		}
	}
	seen := map[[2]string]bool{}
	for {
		var best *state
		most := 0
		for i := range all {
			new := map[[2]string]bool{}
			for _, pair := range left[&all[i]] {
				new[pair] = !seen[pair]
			}
			maps.DeleteFunc(new, func(_ [2]string, is bool) bool { return !is })
			if len(new) > most || *every && left[&all[i]] != nil {
				best, most = &all[i], len(new)
			}
		}
		if best == nil {
			return plans
		}
		for _, pair := range left[best] {
			seen[pair] = true
		}
		plans, left[best] = append(plans, best), nil
	}
}

// TestPlans runs the states' plans, twice, and their way back. One that needs
// a person may leave the state as it was, and never makes it worse. Waits for pods
// and nodes, OLM, WMCO and the control plane's update are played. A plan takes one
// core at most: two servers share them.
func TestPlans(t *testing.T) {
	t.Parallel()
	plans := sample(t)
	t.Logf("%d plans", len(plans))
	var worked atomic.Int64
	t.Run("server", func(t *testing.T) {
		for part := range 2 {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				half := plans[part*len(plans)/2 : (part+1)*len(plans)/2]
				worked.Add(int64(runPlans(t, half)))
			})
		}
	})
	if worked.Load() < 10 {
		t.Errorf("only %d plans worked", worked.Load())
	}
}

// runPlans runs the plans of states in a server of their own, and counts those that
// worked.
func runPlans(t *testing.T, plans []*state) int {
	t.Helper()
	server := startServer(t)
	path, kubectl := tools(t)
	count := map[string]int{}
	for _, s := range plans {
		t.Run(s.name, func(t *testing.T) {
			server.load(t, s)
			outcome, ground := s.runPlan(t, server, path, kubectl)
			count[outcome]++
			said, listed := unfinished[s.name]
			right := outcome == nothing || outcome == stops || outcome == works
			switch {
			case listed && outcome != said:
				t.Errorf("%s: %s and no longer: %s\n%s", s.name, outcome, said, ground)
			case !listed && !right:
				t.Errorf("%s: %s\n%s", s.name, outcome, ground)
			}
		})
	}
	t.Logf("%v, played: %v", count, server.played)
	return count[works]
}

// minors are the releases, in the order of updates.
var minors = []string{"4.12", "4.13", "4.14", "4.15", "4.16", "4.17", "4.18", "4.19", "4.20", "4.21", "4.22", "5.0"}

// offeredTo are patches of the minors on the way.
func offeredTo(s *state) []string {
	from, to := slices.Index(minors, minor(s.cluster.release)), slices.Index(minors, minor(s.to))
	var list []string
	for i := from + 1; i <= to; i++ {
		list = append(list, minors[i]+".9")
	}
	return list
}

// Outcomes of a plan.
const (
	nothing = "nothing to run"
	stops   = "stops for a person, or waits"
	works   = "PASS, twice, and back"
	fails   = "a command fails"
	short   = "not PASS after it"
	unquiet = "a second run changes something"
	leaves  = "the way back leaves something"
)

// runPlan runs a loaded state's plan and tells what comes of it, with the ground.
func (s *state) runPlan(t *testing.T, server *server, path, kubectl string) (outcome, ground string) {
	t.Helper()
	dir := t.TempDir()
	asked := append([]string{"--kubeconfig", server.kubeconfig}, s.about(t)...)
	was, text := judge(t, asked), run(t, append([]string{"skew", "plan", "-o", "script"}, asked...)...).stdout
	if strings.Count(text, "\nrun_") < 2 {
		return nothing, "" // but to look at the result
	}
	byHand := slices.Contains(actionKinds(steps(t, asked)), "by-hand")
	original := server.snapshot(t, false)
	if d := server.backBeforeUpdate(t, dir, path, kubectl, text, original); d != "" {
		return leaves, "before the update: " + d
	}
	agreed := []string{"--yes"}
	out, exit := server.shell(t, dir, path, kubectl, text, agreed...)
	if strings.Contains(out, " needs a person.") && !byHand {
		agreed = nil // what is asked for is an acknowledgement
		out, exit = server.shell(t, dir, path, kubectl, text)
	}
	now := judge(t, append([]string{"--kubeconfig", server.kubeconfig}, s.args...))
	switch {
	case exit == 3 && (strings.Contains(out, " needs a person.") || strings.Contains(out, " isn't set: ")) || strings.Contains(out, vain) || strings.Contains(out, "timed out"):
		if now.Verdict > max(was.Verdict, finding.Warn) {
			return short, fmt.Sprintf("from %s to %s (%s)\n%s", was.Verdict, now.Verdict, grounds(now), out)
		}
		return stops, out
	case exit == 3 && strings.Contains(out, "\nBLOCK   Don't start ") && byHand:
		return stops, "" // the person says that it is done, and verify sees that it isn't
	case exit != 0:
		return fails, out
	case now.Verdict > finding.Info:
		return short, fmt.Sprintf("it says %s (%s)\n%s", now.Verdict, grounds(now), out)
	}
	before := server.snapshot(t, true)
	if out, exit := server.shell(t, dir, path, kubectl, text, agreed...); exit != 0 {
		return fails, "the second time: " + out
	}
	if d := difference(before, server.snapshot(t, true)); d != "" {
		return unquiet, d
	}
	out, exit = server.shell(t, dir, path, kubectl, text, append(agreed, "--rollback")...)
	if exit != 0 {
		return fails, "the way back: " + out
	}
	if strings.Contains(out, "The rollback ends here") {
		return works, "" // what came before an update stays
	}
	if d := difference(kept(original, original), kept(server.snapshot(t, false), original)); d != "" {
		return leaves, d
	}
	return works, ""
}

// backBeforeUpdate runs a plan up to the first update of the cluster, which is refused,
// and takes it back: it tells what isn't as it was.
func (s *server) backBeforeUpdate(t *testing.T, dir, path, kubectl, text string, original map[string]string) string {
	t.Helper()
	if !strings.Contains(text, "\noc adm upgrade --to=") {
		return ""
	}
	s.refusing = true
	defer func() { s.refusing = false }()
	out, _ := s.shell(t, dir, path, kubectl, text)
	if !strings.Contains(out, refused) {
		return "" // it waits for a person before
	}
	if out, exit := s.shell(t, dir, path, kubectl, text, "--rollback"); exit != 0 {
		return out
	}
	return difference(kept(original, original), kept(s.snapshot(t, false), original))
}

// kept are the objects that a way back restores: all but those that the update of
// the control plane and WMCO move, and pods. A pool that was paused in the original and is
// resumed has no way back: its nodes follow at once.
func kept(all, original map[string]string) map[string]string {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name, _ string) bool {
		kind, _, _ := strings.Cut(name, " ")
		return kind == "MachineConfigPool" && strings.Contains(original[name], `"paused":true`) || slices.Contains([]string{"Pod", "ControllerRevision", "Node", "CSINode", "ClusterVersion", "ClusterServiceVersion", "PersistentVolume"}, kind) || strings.HasPrefix(name, "ConfigMap "+wmcoNS+"/")
	})
	return out
}

// difference names what isn't the same in two snapshots.
func difference(a, b map[string]string) string {
	var list []string
	for name := range maps.Keys(a) {
		if a[name] != b[name] {
			list = append(list, name)
		}
	}
	for name := range maps.Keys(b) {
		if _, ok := a[name]; !ok {
			list = append(list, "new "+name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
