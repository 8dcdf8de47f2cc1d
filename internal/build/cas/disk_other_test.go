//go:build !linux

package cas

import "testing"

func onSmallDisk(*testing.T) (*Store, bool) { return nil, false }

func makeReadOnly(t *testing.T, _ string) { t.Fatal("no disk to remount") }
