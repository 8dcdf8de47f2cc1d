//go:build !linux

package template

// replace puts temp in the place of dir. What was there is at temp afterwards.
func replace(temp, dir string) error { return replaceInSteps(temp, dir) }
