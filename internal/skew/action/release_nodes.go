package action

// ReleaseNodes lets WMCO 8 and 9 update nodes that have volumes.
type ReleaseNodes struct {
	defaults
	// Provisioner is what a node's CSINode must list first; "" for nothing.
	Provisioner string
	// WMCO is the release that they get.
	WMCO string
}

func (ReleaseNodes) rank() int { return rankNodes }
