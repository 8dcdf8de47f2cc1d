package apiserver

import "syscall"

// dieWithParent: a test that runs into its time limit, or is killed, runs no
// clean-up.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
