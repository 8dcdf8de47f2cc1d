// Command service stands where containerd and the kubelet do on a Wine node,
// which has neither containers nor a network for them: a Windows service that
// takes any arguments and runs until it's stopped.
package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows/svc"
)

type service struct{}

// Execute is svc.Handler's.
func (service) Execute(_ []string, requests <-chan svc.ChangeRequest, status chan<- svc.Status) (bool, uint32) {
	status <- svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown}
	for r := range requests {
		switch r.Cmd {
		case svc.Interrogate:
			status <- r.CurrentStatus
		case svc.Stop, svc.Shutdown:
			status <- svc.Status{State: svc.StopPending}
			return false, 0
		default: // it accepts no other
		}
	}
	return false, 0
}

func main() {
	// The service manager knows its name.
	if err := svc.Run("", service{}); err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
}
