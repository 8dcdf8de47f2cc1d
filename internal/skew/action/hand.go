package action

// ByHand is what no command does.
type ByHand struct {
	nothing
	Text string
	// Object is what it is about, "" for none.
	Object string
	// Look are command lines that show what helps, as words.
	Look [][]string
	// Judge is what only a person can tell first; "" for nothing.
	Judge string
}

func (a ByHand) write(r *record) {
	r.say("by-hand", "%s", a.Text)
	r.Object, r.Judge = a.Object, a.Judge
	for _, words := range a.Look {
		r.run(words)
	}
}

// Gather reads what is missing, for the next check.
type Gather struct {
	nothing
	Text string
	// Get are what oc reads, File is where to; "" prints it.
	Get  []string
	File string
}

func (a Gather) write(r *record) {
	r.say("gather", "%s", a.Text)
	if a.File == "" {
		r.run("oc", a.Get)
		return
	}
	r.run("oc", a.Get, raw(">"), a.File)
}
