package action

// ReadPayload writes a release's payload to a file that --release-image takes.
type ReadPayload struct {
	defaults
	Text string
}

func (ReadPayload) effect() bool { return false }
