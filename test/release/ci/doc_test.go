// Package ci checks the pipelines in /ci: their form with each system's own
// code, and their shell steps by running them. It isn't for the project's own
// CI. It is a module of its own, so that Tekton's dependencies stay out of the
// project's.
package ci
