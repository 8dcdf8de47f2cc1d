//go:build unix

package cache

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// sharedWith says how a folder isn't this user's alone; "" when it is.
func sharedWith(info fs.FileInfo) string {
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
		return fmt.Sprintf("belongs to the user %d", owner)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return "may be written to by others: " + info.Mode().String()
	}
	return ""
}
