// Package data holds the rules on what the other rules had to go by (DATA).
package data

import "github.com/winbake/winbake/internal/skew/rules"

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "DATA001", Driver: driverData, Cluster: releaseData, At: rules.ExceptPlan},
	{ID: "DATA002", Cluster: notRead, At: rules.AtNow},
}
