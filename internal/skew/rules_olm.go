package skew

var olmRules []rule
