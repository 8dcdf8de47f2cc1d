package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kubernetes-csi/csi-proxy/client"
	"github.com/kubernetes-csi/csi-proxy/client/apiversion"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc/mgr"
)

// owners prints the process that serves each v1 pipe, and the process of each
// service that csi-proxy goes by: upstream's name and OpenShift's.
func owners(ctx context.Context, _ *proxy, _ volume) error {
	out := struct{ Pipes, Services map[string]uint32 }{map[string]uint32{}, map[string]uint32{}}
	for _, group := range []string{"disk", "filesystem", "smb", "volume"} {
		pid, err := pipeOwner(ctx, client.PipePath(group, apiversion.NewVersionOrPanic("v1")))
		if err != nil {
			return fmt.Errorf("who serves %s: %w", group, err)
		}
		out.Pipes[group] = pid
	}
	for _, name := range []string{"csi-proxy", "csiproxy"} {
		pid, err := serviceProcess(name)
		if err != nil {
			return fmt.Errorf("service %s: %w", name, err)
		}
		out.Services[name] = pid
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// pipes opens each pipe that standard input names, a line each, whatever its
// group and version, and prints the process that serves it.
func pipes(ctx context.Context, _ *proxy, _ volume) error {
	out := map[string]uint32{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		pid, err := pipeOwner(ctx, lines.Text())
		if err != nil {
			return fmt.Errorf("who serves %s: %w", lines.Text(), err)
		}
		out[lines.Text()] = pid
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func pipeOwner(ctx context.Context, path string) (uint32, error) {
	pipe, err := openPipe(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = windows.CloseHandle(pipe) }()
	var pid uint32
	return pid, windows.GetNamedPipeServerProcessId(pipe, &pid)
}

// openPipe waits while the server makes its pipe's next instance.
func openPipe(ctx context.Context, path string) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	for {
		pipe, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, 0, 0)
		if !errors.Is(err, windows.ERROR_PIPE_BUSY) || ctx.Err() != nil {
			return pipe, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// serviceProcess is 0 of a service that isn't there, or that doesn't run.
func serviceProcess(name string) (uint32, error) {
	m, err := mgr.Connect()
	if err != nil {
		return 0, err
	}
	defer func() { _ = m.Disconnect() }()
	s, err := m.OpenService(name)
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer s.Close() //nolint:errcheck // only asked
	status, err := s.Query()
	return status.ProcessId, err
}
