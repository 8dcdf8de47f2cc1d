package action

import (
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// ByHand is what no command does.
type ByHand struct {
	Text string
	// Object is what it is about, "" for none.
	Object string
	// Look are command lines that show what helps, as words.
	Look [][]string
	// Judge is what only a person can tell first; "" for nothing.
	Judge string
	// Becomes is what a driver is then; nil where nothing that was read changes.
	Becomes *inventory.Driver
}

// Apply makes the driver what it becomes.
func (a ByHand) Apply(inv *inventory.Inventory) { become(inv, a.Becomes) }

func (a ByHand) write(r *record) {
	r.say("by-hand", "%s", a.Text)
	r.Object, r.Judge = a.Object, a.Judge
	for _, words := range a.Look {
		r.run(words)
	}
}

// Check looks at the result with verify.
type Check struct{ nothing }

func (Check) write(r *record) {
	r.say("check", "check the result: versions, rollouts, registered drivers, migrated volumes")
	r.run("verify", "skew")
}

// Gather reads what is missing, for the next check.
type Gather struct {
	nothing
	Text string
	// Get are what oc reads, File is where to; "" prints it.
	Get  []string
	File string
	// Into are what a must-gather lacks instead, whose reader knows where it belongs.
	Into []*inventory.Gather
}

func (a Gather) write(r *record) {
	r.say("gather", "%s", a.Text)
	if len(a.Into) > 0 {
		r.Commands = inventory.GatherLines(a.Into)
		return
	}
	if a.File == "" {
		r.run("oc", a.Get)
		return
	}
	r.run("oc", a.Get, raw(">"), a.File)
}

// ReadPayload writes a release's payload to a file that --release-image takes.
type ReadPayload struct {
	nothing
	Text string
}

func (a ReadPayload) write(r *record) {
	r.say("read-payload", "%s", a.Text)
	r.run("oc", "adm", "release", "info", "--commits", "-o", "json",
		asked{"", finding.Ask{Name: "RELEASE", Text: "the release's image, or its version where oc is logged in to a cluster that knows it", Command: "oc adm upgrade"}}, raw("> release.json"))
}
