// Command marked deletes a service and goes on holding it open, as services.msc
// does: until it ends, the service is marked for deletion. The file that it
// writes says that it is.
//
//	marked NAME FILE
package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/windows/svc/mgr"
)

func main() {
	if err := mark(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "marked:", err)
		os.Exit(1)
	}
	time.Sleep(24 * time.Hour) // until it's killed
}

func mark(name, file string) error {
	m, err := mgr.Connect()
	if err != nil {
		return err
	}
	s, err := m.OpenService(name)
	if err != nil {
		return err
	}
	if err := s.Delete(); err != nil {
		return err
	}
	return os.WriteFile(file, nil, 0o644)
}
