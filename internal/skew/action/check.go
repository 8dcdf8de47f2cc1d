package action

// Check looks at the result with verify. Built is the release that an image was built
// for, whose labels and payload tell that both sides are of one commit; "" for none.
type Check struct {
	defaults
	Built string
}

func (Check) effect() bool { return false }
