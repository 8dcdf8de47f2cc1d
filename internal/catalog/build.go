package catalog

// Sidecar reports whether the program isn't a driver but runs beside each.
func (b *Build) Sidecar() bool {
	return b.Name == "node-driver-registrar" || b.Name == "livenessprobe"
}

// Build returns how the program of that name is built, nil for one that isn't
// known.
func (c *Catalog) Build(name string) *Build {
	return find(c.Builds, func(b *Build) bool { return b.Name == name })
}

// Head returns the head of a minor's release branch, nil for one that wasn't
// looked at.
func (b *Build) Head(minor string) *Head {
	return find(b.Heads, func(h *Head) bool { return h.OpenShift == minor })
}
