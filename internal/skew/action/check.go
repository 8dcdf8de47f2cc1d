package action

// Check looks at the result with verify. Built is the release that images were built
// for; "" for none. Their labels and its payload tell that both sides are of one commit.
type Check struct {
	defaults
	Built string
	// Files hold the references of these images.
	Files []string
}

func (Check) effect() bool { return false }
