//go:build !linux

package apiserver

import "syscall"

// dieWithParent: only Linux can.
func dieWithParent() *syscall.SysProcAttr { return nil }
