//go:build !linux

package atomicfs

// ReplaceDir puts temp in the place of dir. What was there is at temp
// afterwards.
func ReplaceDir(temp, dir string) error { return replaceDirInSteps(temp, dir) }
