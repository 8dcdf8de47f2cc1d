package imagecheck

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"github.com/winbake/winbake/internal/windows/agent"
)

// local is the Windows that this process runs on.
type local struct {
	ctx      context.Context // of the programs that are run
	services agent.System
}

// Local is the Windows that this process runs on.
func Local(ctx context.Context) (Windows, error) {
	sys, _, err := agent.Local()
	return local{ctx, sys}, err
}

// withKey has read read a key of HKLM.
func withKey[T any](name string, rights uint32, read func(registry.Key) (T, error)) (v T, err error) {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, strings.TrimPrefix(name, `HKLM\`), rights|registry.WOW64_64KEY)
	if err == nil {
		defer k.Close() //nolint:errcheck // only read
		v, err = read(k)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return v, err
}

func (local) Value(key, name string) (string, error) {
	return withKey(key, registry.QUERY_VALUE, func(k registry.Key) (string, error) { return valueOf(k, name) })
}

func valueOf(k registry.Key, name string) (string, error) {
	_, kind, err := k.GetValue(name, nil)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	switch kind {
	case registry.DWORD, registry.QWORD:
		n, _, err := k.GetIntegerValue(name)
		return strconv.FormatUint(n, 10), err
	case registry.MULTI_SZ:
		lines, _, err := k.GetStringsValue(name)
		return strings.Join(lines, "\n"), err
	}
	text, _, err := k.GetStringValue(name)
	return text, err
}

func (local) Values(key string) ([]string, error) {
	return withKey(key, registry.QUERY_VALUE, func(k registry.Key) (all []string, err error) {
		names, err := k.ReadValueNames(-1)
		for _, name := range names {
			v, verr := valueOf(k, name)
			all, err = append(all, v), cmp.Or(err, verr)
		}
		return all, err
	})
}

func (local) Keys(key string) ([]string, error) {
	return withKey(key, registry.ENUMERATE_SUB_KEYS, func(k registry.Key) ([]string, error) { return k.ReadSubKeyNames(-1) })
}

func (l local) Service(name string) (Service, error) {
	s, err := l.services.Service(name)
	if err == nil && s == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Service{}, fmt.Errorf("service %s: %w", name, err)
	}
	start, told := s.Start.Get()
	if !told {
		return Service{}, fmt.Errorf("service %s: %s", name, s.Start.Reason())
	}
	return Service{Start: string(start), State: s.State, Command: s.Command.Value}, nil
}

func (local) Read(path string) ([]byte, error) { return os.ReadFile(path) }

func (local) Glob(pattern string) ([]string, error) { return filepath.Glob(pattern) }

func (local) Security(path string) (string, error) {
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	text := sd.String()
	if text == "" {
		return "", fmt.Errorf("%s: its access list has no text", path)
	}
	return text, nil
}

// userInfo20 is USER_INFO_20 of lmaccess.h.
type userInfo20 struct {
	name, fullName, comment *uint16
	flags, id               uint32
}

const (
	normalAccounts = 2          // FILTER_NORMAL_ACCOUNT
	disabledFlag   = 2          // UF_ACCOUNTDISABLE
	firstOwnUser   = 1000       // RIDs below are Windows' own
	noLimit        = 0xFFFFFFFF // MAX_PREFERRED_LENGTH
)

func (local) Users() ([]string, error) {
	var buf *byte
	var n, total uint32
	if err := windows.NetUserEnum(nil, 20, normalAccounts, &buf, noLimit, &n, &total, nil); err != nil {
		return nil, fmt.Errorf("NetUserEnum: %w", err)
	}
	if buf == nil {
		return nil, errors.New("NetUserEnum: no user, not even the administrator")
	}
	defer windows.NetApiBufferFree(buf) //nolint:errcheck // nothing is left to do
	var own []string
	for _, u := range unsafe.Slice((*userInfo20)(unsafe.Pointer(buf)), n) {
		if u.flags&disabledFlag == 0 && u.id >= firstOwnUser {
			own = append(own, windows.UTF16PtrToString(u.name))
		}
	}
	return own, nil
}

// winHTTPProxyInfo is WINHTTP_PROXY_INFO of winhttp.h.
type winHTTPProxyInfo struct {
	access        uint32
	proxy, bypass *uint16
}

func (local) WinHTTPProxy() (string, error) {
	ask := windows.NewLazySystemDLL("winhttp.dll").NewProc("WinHttpGetDefaultProxyConfiguration")
	if err := ask.Find(); err != nil {
		return "", err
	}
	var info winHTTPProxyInfo
	if ok, _, err := ask.Call(uintptr(unsafe.Pointer(&info))); ok == 0 {
		return "", fmt.Errorf("WinHttpGetDefaultProxyConfiguration: %w", err)
	}
	if info.proxy == nil {
		return "", nil
	}
	return windows.UTF16PtrToString(info.proxy), nil
}

// Of winioctl.h: the control code, and the place in STORAGE_DEVICE_DESCRIPTOR where the
// serial number's is.
const (
	storageQueryProperty = 0x2D1400
	serialNumberOffset   = 24
)

func (local) Serial() (string, error) {
	disk, err := os.OpenFile(`\\.\PhysicalDrive0`, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer disk.Close()
	var query [12]byte // STORAGE_PROPERTY_QUERY: StorageDeviceProperty, PropertyStandardQuery
	buf := make([]byte, 4096)
	var n uint32
	if err := windows.DeviceIoControl(windows.Handle(disk.Fd()), storageQueryProperty, &query[0], uint32(len(query)), &buf[0], uint32(len(buf)), &n, nil); err != nil {
		return "", fmt.Errorf("ask the disk for its serial number: %w", err)
	}
	buf = buf[:n]
	if len(buf) < serialNumberOffset+4 {
		return "", errors.New("the disk's description is too short")
	}
	at := *(*uint32)(unsafe.Pointer(&buf[serialNumberOffset]))
	if at == 0 || at >= n {
		return "", nil
	}
	text, _, _ := bytes.Cut(buf[at:], []byte{0})
	return strings.TrimSpace(string(text)), nil
}

func (l local) Run(program string, args ...string) (string, error) {
	cmd := exec.CommandContext(l.ctx, program, args...)
	var trouble strings.Builder
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(program), err, strings.TrimSpace(trouble.String()))
	}
	return string(out), nil
}
