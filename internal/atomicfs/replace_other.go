//go:build !linux

package atomicfs

// replaceDir puts temp in the place of dir. What was there is at temp
// afterwards.
func replaceDir(temp, dir string) error { return replaceDirInSteps(temp, dir) }
