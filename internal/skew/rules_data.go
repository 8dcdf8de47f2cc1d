package skew

var dataRules []rule
