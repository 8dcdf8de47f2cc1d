// Package skew judges whether a cluster's Windows CSI drivers fit the Linux
// CSI drivers of an OpenShift release, and whether in-tree volumes block an update. It runs the rules at each moment of the update, and has
// the plan made of what they say.
//
// It is pure: an inventory and a catalog go in, findings and steps come out. It
// reads no file, talks to no cluster and prints nothing.
//
//	snapshot   a cluster at a moment: what can be looked up, nothing judged
//	rules      what a rule is, and what becomes of its findings
//	rules/...  the rules, a package for a family
//	remedy     which actions bring a driver, WMCO or what was read where it should be
//	action     the actions, as values
//	plan       the actions in order, each on what the ones before it leave
package skew
