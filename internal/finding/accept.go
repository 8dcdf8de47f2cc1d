package finding

// Accept lowers the findings that rules name to INFO. A rule is an ID, or
// ID=object for one object alone. A lowered finding says what it was.
func Accept(fs []Finding, rules []string) []Finding {
	accepted := map[string]bool{}
	for _, r := range rules {
		accepted[r] = true
	}
	out := make([]Finding, len(fs))
	for i, f := range fs {
		if f.Severity > Info && (accepted[f.ID] || accepted[f.ID+"="+f.Object]) {
			f.Why = "accepted; it was " + f.Severity.String() + ". " + f.Why
			f.Accepted = f.Severity.String()
			f.Severity = Info
		}
		out[i] = f
	}
	return out
}
