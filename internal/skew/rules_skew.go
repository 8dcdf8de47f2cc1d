package skew

var skewRules []rule
