// Package wine runs Windows programs on a machine that has Wine: in a prefix
// of their own, headless, with nothing of the person's in reach.
//
// That a program starts in Wine shows that it is whole. What it does to a node
// it doesn't show: Wine answers success to much that it doesn't do.
package wine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
)

// Env is the whole environment of a program in prefix: no display, no home of
// the person's, no credentials. What Wine's server needs while it runs is in
// the prefix too, and goes with it. more are DLL overrides in Wine's own form.
func Env(prefix string, more ...string) []string {
	overrides := "mscoree=d;mshtml=d;winemenubuilder.exe=d;winedbg.exe=d" // nothing to install, no menus, no report over a crash
	for _, o := range more {
		overrides += ";" + o
	}
	return []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", // so that a file's name is UTF-8 on both sides
		"HOME=" + prefix, "TMPDIR=" + prefix, "WINEPREFIX=" + prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=" + overrides,
	}
}

// still begins a command with addresses that aren't random, where that is
// permitted (a container's seccomp profile may forbid it). Linux puts the heap of
// Wine 8's loader, 132 KB, anywhere in the GiB above 0x7d005000, and Wine needs the
// page at 0x7ffe0000: one of 8,000 programs ended with exit code 1 or, where a
// program started it, with "Internal error".
var still = sync.OnceValue(func() []string {
	if exec.Command("setarch", "-R", "true").Run() != nil {
		return nil
	}
	return []string{"setarch", "-R"}
})

// Command is a program of prefix, in its C:\.
func Command(ctx context.Context, prefix string, args ...string) *exec.Cmd {
	args = slices.Concat(still(), []string{"wine"}, args)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = Env(prefix)
	// The current directory becomes the program's, and it must be one that the
	// prefix has a drive for.
	c := filepath.Join(prefix, "drive_c")
	if info, err := os.Stat(c); err == nil && info.IsDir() {
		cmd.Dir = c
	}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Make makes a prefix in the new folder dir, about 700 MB of it, in which Go
// programs start and from which no drive leads to the host. Nothing of it runs
// afterwards. It needs seconds.
func Make(ctx context.Context, dir string) error {
	if _, err := exec.LookPath("wine"); err != nil {
		return &fault.Error{What: "there is no wine on PATH to run Windows programs with", Fix: "apt-get install wine (test/deps.sh does)", Err: err}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := boot(ctx, dir); err != nil {
		End(dir)
		return fmt.Errorf("make a Wine prefix: %w", err)
	}
	if err := closeIn(dir); err != nil {
		return err
	}
	dll := filepath.Join(dir, "drive_c", "windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(dll); errors.Is(err, fs.ErrNotExist) { // Wine 9 has its own
		return os.WriteFile(dll, Shim(), 0o755)
	}
	return nil
}

func boot(ctx context.Context, dir string) error {
	// Wine's server keeps the outputs of the program that started it: a pipe
	// would stay open, so they're a file.
	log, err := os.Create(filepath.Join(dir, "wine.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := Command(ctx, dir, "wineboot", "-i")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("wineboot: %w\n%s", err, text)
	}
	return Settle(ctx, dir)
}

// Settle waits until Wine has written the registry of a prefix and ended. The
// folder that its server had, and the note of its name, go: the server of a copy
// of the prefix would stumble over them.
func Settle(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "wineserver", "-w")
	cmd.Env = Env(dir)
	if err := cmd.Run(); err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(dir, "wine-*"))
	if err != nil {
		return err
	}
	for _, path := range append(left, filepath.Join(dir, "wineserver")) {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// End ends whatever lives in a prefix.
func End(dir string) {
	cmd := exec.Command("wineserver", "-k")
	cmd.Env = Env(dir)
	_ = cmd.Run() // nothing may live
}

// closeIn takes away what reaches out of the prefix: the drive that is the
// host's root, its serial ports, and the user's folders, which are the host's.
func closeIn(dir string) error {
	drives, err := os.ReadDir(filepath.Join(dir, "dosdevices"))
	if err != nil {
		return err
	}
	for _, d := range drives {
		if d.Name() == "c:" {
			continue
		}
		if err := os.Remove(filepath.Join(dir, "dosdevices", d.Name())); err != nil {
			return err
		}
	}
	return filepath.WalkDir(filepath.Join(dir, "drive_c", "users"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type() != fs.ModeSymlink {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.Mkdir(path, 0o755)
	})
}

// Go programs since 1.21 ask bcryptprimitives.dll for random bytes at start,
// and Wine 8 doesn't have it (Wine 9 has). The shim is that DLL with no code in
// it: one export, ProcessPrng, forwarded to the function of the same shape that
// Wine has, advapi32's SystemFunction036 (RtlGenRandom).
//
// Its form is the PE32+ of https://learn.microsoft.com/windows/win32/debug/pe-format:
// headers in the first 512 bytes, the export directory in the next 512.
const (
	shimSection   = 0x1000 // where the section is in memory
	shimFileAlign = 0x200
)

// Shim returns the DLL's bytes, the same every time.
func Shim() []byte {
	exports := shimExports()
	out := append(shimHeaders(len(exports)), exports...)
	return append(out, make([]byte, 2*shimFileAlign-len(out))...)
}

// shimExports is the export directory, its three tables of one row, and the
// strings. A function's address inside the directory makes it a forwarder.
func shimExports() []byte {
	const tables = shimSection + 40
	names := []byte("bcryptprimitives.dll\x00ProcessPrng\x00ADVAPI32.SystemFunction036\x00")
	dll := uint32(tables + 4 + 4 + 4)
	function := dll + uint32(bytes.IndexByte(names, 0)) + 1
	forward := function + uint32(len("ProcessPrng")) + 1
	return append(pack(
		uint32(0), uint32(0), uint16(0), uint16(0), dll, uint32(1), uint32(1), uint32(1), // flags, time, version, name, base, counts
		uint32(tables), uint32(tables+4), uint32(tables+8),
		forward, function, uint16(0), uint16(0),
	), names...)
}

func shimHeaders(exports int) []byte {
	out := append([]byte("MZ"), make([]byte, 58)...)
	out = append(out, pack(
		uint32(0x40), []byte("PE\x00\x00"),
		uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), uint16(240), uint16(0x2022), // amd64, one section, an executable DLL
		uint16(0x20b), uint16(14), uint32(0), uint32(shimFileAlign), uint32(0), uint32(0), uint32(shimSection), // PE32+
		uint64(0x180000000), uint32(0x1000), uint32(shimFileAlign), // base and alignments
		uint16(6), uint16(0), uint16(0), uint16(0), uint16(6), uint16(0), uint32(0), // Windows 6.0
		uint32(2*shimSection), uint32(shimFileAlign), uint32(0), uint16(3), uint16(0x160),
		uint64(0x100000), uint64(0x1000), uint64(0x100000), uint64(0x1000), uint32(0), uint32(16),
		uint32(shimSection), uint32(exports), make([]byte, 15*8), // the first of 16 directories
		[]byte(".rdata\x00\x00"), uint32(exports), uint32(shimSection), uint32(shimFileAlign), uint32(shimFileAlign),
		uint32(0), uint32(0), uint16(0), uint16(0), uint32(0x40000040),
	)...)
	return append(out, make([]byte, shimFileAlign-len(out))...)
}

func pack(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		_ = binary.Write(&b, binary.LittleEndian, v) // of a Buffer never fails
	}
	return b.Bytes()
}
