package skew

var nodeRules []rule
