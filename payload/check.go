package payload

// Check isn't written yet.
func (t *Tree) Check() error { return nil }
