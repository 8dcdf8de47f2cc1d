package action

// BindSCC lets a service account use the SCC privileged.
type BindSCC struct {
	defaults
	Namespace, Account string
}

func (BindSCC) rank() int { return rankAccess }
