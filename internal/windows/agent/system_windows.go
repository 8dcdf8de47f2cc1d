package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"

	"github.com/winbake/winbake/internal/windows/node"
)

// localNode is the System that this process runs on.
type localNode struct{}

func (localNode) Describe() (host, version string) {
	host, _ = os.Hostname() // without a name, the report goes without
	v := windows.RtlGetVersion()
	return host, fmt.Sprintf("Windows %d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}

// Administrator asks whether the token is one of the administrators'.
func (localNode) Administrator() (bool, error) {
	sid, err := windows.CreateWellKnownSid(windows.WinBuiltinAdministratorsSid)
	if err != nil {
		return false, fmt.Errorf("name the administrators: %w", err)
	}
	member, err := windows.Token(0).IsMember(sid)
	if err != nil {
		return false, fmt.Errorf("ask for the groups of this user: %w", err)
	}
	return member, nil
}

func (localNode) Processes() ([]Process, error) {
	enableDebug()
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(snapshot) //nolint:errcheck // only read
	var all []Process
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		if p := (Process{PID: entry.ProcessID}); p.PID != 0 && p.look() {
			all = append(all, p)
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, err
	}
	return all, nil
}

// look finds the process's executable, and tells whether it still runs: one
// that has ended stays in the list as long as somebody holds it open.
func (p *Process) look() bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, p.PID)
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	defer windows.CloseHandle(h) //nolint:errcheck // only read
	if e, err := windows.WaitForSingleObject(h, 0); err == nil && e == windows.WAIT_OBJECT_0 {
		return false
	}
	p.Image, _ = imageOf(h) // "" says that it isn't told
	return true
}

func imageOf(h windows.Handle) (string, error) {
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(buf))
	if err := windows.QueryFullProcessImageName(h, 0, &buf[0], &n); err != nil {
		return "", err
	}
	return windows.UTF16ToString(buf[:n]), nil
}

// End: the handle keeps the number from passing to another
// process between the look and the end.
func (localNode) End(p Process) error {
	enableDebug()
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.PROCESS_TERMINATE|windows.SYNCHRONIZE, false, p.PID)
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return nil // gone
	}
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h) //nolint:errcheck // the process goes, or the error is told
	if image, err := imageOf(h); err == nil && p.Image != "" && image != p.Image {
		return nil
	}
	return windows.TerminateProcess(h, 1)
}

// enableDebug asks for the right to look at, and end, processes of other
// accounts. Where it isn't given, they tell less.
var enableDebug = sync.OnceFunc(func() { _ = winio.EnableProcessPrivileges([]string{"SeDebugPrivilege"}) })

func (localNode) Pipe(ctx context.Context, name string) node.PipeFacts { return askPipe(ctx, name) }

// Local is the node that this process runs on. Only administrators may write
// below Program Files.
func Local() (System, Dir, error) {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramFiles, 0)
	if err != nil {
		dir = os.Getenv("ProgramFiles")
	}
	return localNode{}, Dir(filepath.Join(dir, "Winbake")), nil
}
