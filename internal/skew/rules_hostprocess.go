package skew

var hostProcessRules []rule
