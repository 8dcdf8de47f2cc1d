// Package precheck writes what runs `verify skew precheck` in a cluster: a
// Deployment with exactly the rights that it uses, a Service for its metrics,
// and the rules whose alerts `oc adm upgrade recommend` shows.
//
// It reads no file and talks to no cluster. What the process does is package
// internal/precheck's.
package precheck
