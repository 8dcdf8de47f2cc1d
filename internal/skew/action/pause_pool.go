package action

// PausePool keeps a pool's machines at their release while the control plane
// moves on, Resume lets them follow.
type PausePool struct {
	defaults
	Pool   string
	Resume bool
	// Was: it was paused before the plan, perhaps for another reason.
	Was bool
}

func (a PausePool) kind() string {
	if a.Resume {
		return "resume-pool"
	}
	return "pause-pool"
}

func (PausePool) rank() int { return rankNodes }
