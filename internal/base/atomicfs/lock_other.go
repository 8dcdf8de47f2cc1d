//go:build !unix

package atomicfs

import (
	"context"
	"os"
)

// Windows: there is no lock, and folders can't be synced.
func lockFile(ctx context.Context, _ *os.File) error { return ctx.Err() }

func mayWrite(string) error { return nil }

func tryLockFile(*os.File) bool { return false }

// SyncDir does nothing: Windows syncs no folders.
func SyncDir(string) error { return nil }
