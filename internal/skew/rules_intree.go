package skew

// inTreeRules judge whether in-tree volumes stand in the way of an update.
var inTreeRules []rule
