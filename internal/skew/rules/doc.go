// Package rules is what all rules share: what a rule is and needs, its
// explanation, and how findings of several moments become one. The rules
// themselves are in the packages below it, a family each.
package rules
