package winenode

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/pkg/sftp"
)

func openSFTP(t *testing.T, n *Node) *sftp.Client {
	t.Helper()
	c, err := sftp.NewClient(dial(t, n))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// send writes size bytes and says what went wrong.
func send(c *sftp.Client, name string, size int) error {
	f, err := c.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, bytes.NewReader(make([]byte, size)))
	return errors.Join(err, f.Close())
}

func sizeOf(t *testing.T, n *Node, windows string) int64 {
	t.Helper()
	path, err := n.Path(windows)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

const megabyte = 1 << 20

// uploadFault is something that goes wrong on the node, and what a client sees.
type uploadFault struct {
	name     string
	fault    func(n *Node)
	sees     string // in the error; none: nothing went wrong, for the client
	min, max int64  // bytes of the megabyte that are there in the end
}

var uploadFaults = []uploadFault{
	{"no fault", func(*Node) {}, "", megabyte, megabyte},
	{"connection cut", func(n *Node) { n.CutAfter(200_000) }, "connection lost", 1, 200_000},
	{"no space", func(n *Node) { n.Space(300_000) }, "not enough space", 1, 300_000},
	{"truncated", func(n *Node) { n.Truncate(1000) }, "", 1000, 1000},
}

func TestUploadFaults(t *testing.T) {
	t.Parallel()
	n := Start(t, Options{})
	for _, f := range uploadFaults {
		f.fault(n)
		err := send(openSFTP(t, n), `C:\upload.bin`, megabyte)
		if f.sees == "" && err != nil || f.sees != "" && (err == nil || !strings.Contains(err.Error(), f.sees)) {
			t.Errorf("%s: the client sees %v, want %q", f.name, err, f.sees)
		}
		if size := sizeOf(t, n, `C:\upload.bin`); size < f.min || size > f.max {
			t.Errorf("%s: %d bytes are there", f.name, size)
		}
		n.CutAfter(0)
		n.Space(-1)
		n.Truncate(0)
	}
	if err := send(openSFTP(t, n), `C:\upload.bin`, megabyte); err != nil || sizeOf(t, n, `C:\upload.bin`) != megabyte {
		t.Errorf("with no fault any more: %v", err)
	}
}

// A running program may be renamed, and not written or removed; a file that a
// program has open none of these.
func TestFileInUse(t *testing.T) {
	t.Parallel()
	n := Start(t, Options{})
	c := openSFTP(t, n)
	const program = "/C:/winenode/guest.exe" // it holds the node up
	if err := send(c, program, 1); err == nil || !strings.Contains(err.Error(), "used by another process") {
		t.Errorf("write: %v", err)
	}
	if err := c.Remove(program); err == nil || !strings.Contains(err.Error(), "used by another process") {
		t.Errorf("remove: %v", err)
	}
	if err := send(c, "/C:/new.exe", 1); err != nil {
		t.Fatal(err)
	}
	if err := c.PosixRename("/C:/new.exe", program); err == nil || !strings.Contains(err.Error(), "used by another process") {
		t.Errorf("rename over it: %v", err)
	}
	if err := c.Rename(program, "/C:/winenode/old.exe"); err != nil {
		t.Errorf("rename: %v", err)
	}
	if err := c.Remove("/C:/new.exe"); err != nil {
		t.Errorf("remove a free file: %v", err)
	}
}

func TestNotAdministrator(t *testing.T) {
	t.Parallel()
	n := Start(t, Options{NotAdministrator: true})
	c := dial(t, n)
	for _, command := range []string{`sc create x binPath= C:\x.exe`, `sc.exe query csi-proxy`, `cmd /c sc.exe stop x`} {
		if r := run(t, c, "", command); r.code != 5 || !strings.Contains(r.stdout, "Access is denied.") {
			t.Errorf("%s: %+v", command, r)
		}
	}
	files := openSFTP(t, n)
	if err := send(files, `C:\k.exe`, 1); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("write to C:\\: %v", err)
	}
	for _, place := range []string{`C:\Windows\Temp\a.exe`, `a.exe`} {
		if err := send(files, place, 1); err != nil {
			t.Errorf("write %s: %v", place, err)
		}
	}
}

// What a node writes never reaches the prefix that others are made from.
func TestNodesShareNothing(t *testing.T) {
	t.Parallel()
	a, b := Start(t, Options{}), Start(t, Options{})
	const system = `C:\windows\system32\sc.exe`
	before := sizeOf(t, b, system)
	if err := send(openSFTP(t, a), system, 10); err != nil {
		t.Fatal(err)
	}
	if sizeOf(t, a, system) != 10 || sizeOf(t, b, system) != before {
		t.Errorf("sc.exe has %d bytes on the one, %d on the other, was %d", sizeOf(t, a, system), sizeOf(t, b, system), before)
	}
	for _, n := range []*Node{a, b} {
		out, err := n.Wine(t.Context(), "reg", "query", `HKLM\Software\Winenode`)
		if err == nil {
			t.Errorf("the key is there: %s", out)
		}
		if _, err := n.Wine(t.Context(), "reg", "add", `HKLM\Software\Winenode`, "/f"); err != nil {
			t.Fatal(err)
		}
	}
}
