package version

// Driver is a driver's or csi-proxy's version, as its image tag, git describe
// or log line says it.
type Driver struct {
	Major, Minor, Patch uint64
	// Pre is the pre-release without its dash, "rc.2"; rc2 is read as rc.2.
	Pre string
	// After is how many commits the build is after that tag (git describe).
	After int
	// Commit is git describe's, "0939e7a".
	Commit string
	// Variant is a suffix that says how and not what was built: windows-hp,
	// eksbuild.1, fips.
	Variant string
}
