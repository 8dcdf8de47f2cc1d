package skewreport

// ruleTitle is what a rule is about, in a few words; "" for a rule that isn't
// known.
func ruleTitle(id string) string { return "" }

// ruleGround is why a rule is one; "" for a rule that isn't known.
func ruleGround(id string) string { return "" }
