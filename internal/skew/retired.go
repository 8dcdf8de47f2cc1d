package skew

// Retired is a rule that was taken out. Its ID stays reserved: --accept and
// dashboards may still hold it, and it must never mean something else.
type Retired struct {
	ID, Title string
	// Why says why there is no such rule any more, and which one tells what is
	// left of it.
	Why string
}

var retired = []Retired{
	{
		"SKEW004", "Windows driver is newer than the Linux driver",
		"It repeated SKEW001, which tells this distance too, as INFO.",
	},
	{
		"SKEW007", "the project no longer supports this line",
		"It asked for nothing that SKEW001 doesn't: the Linux driver that OpenShift ships decides the version,\nand that one is often older than what the project supports.",
	},
	{
		"PROXY002", "a mounted pipe isn't served",
		"Every csi-proxy that WMCO ever shipped (1.1.3 and newer) serves all pipes that a known driver dials.\nAn older one in a DaemonSet is PROXY007's, with the same remedy; where none is known to run, PROXY001 tells.",
	},
	{
		"PROXY006", "csi-proxies differ",
		"No known driver works with one of WMCO's csi-proxies and not with another.\nNODE002 tells of nodes that WMCO left behind.",
	},
	{
		"OLM001", "the Linux driver comes with an operator from OperatorHub",
		"It asked for nothing. SKEW001 says where the Linux version comes from, and what to compare.",
	},
}

// ExplainRetired finds a rule that was taken out by its ID.
func ExplainRetired(id string) (Retired, bool) {
	for _, r := range retired {
		if r.ID == id {
			return r, true
		}
	}
	return Retired{}, false
}
