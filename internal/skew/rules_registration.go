package skew

// registrationRules judge whether drivers are registered with their nodes.
var registrationRules []rule
