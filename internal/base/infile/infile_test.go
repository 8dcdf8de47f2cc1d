//go:build unix

package infile

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := errors.Join(os.Symlink("pipe", at("link")), os.WriteFile(at("file"), []byte("12345"), 0o600), os.Symlink("file", at("good"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		at("pipe"): "it is a pipe, not a regular file", at("link"): "it is a pipe", at("socket"): "it is a socket",
		"/dev/null": "it is a device", dir: "is a directory", at("none"): "no such file",
	} {
		f, err := Open(name)
		if err == nil {
			_ = f.Close()
		}
		if _, isPath := errors.AsType[*fs.PathError](err); !isPath || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if data, err := Read(at("good"), 5); err != nil || string(data) != "12345" {
		t.Errorf("a link to a file: %q, %v", data, err)
	}
	if _, err := Read(at("file"), 4); err == nil || !strings.Contains(err.Error(), "it has more than 4 bytes") {
		t.Errorf("a byte too many: %v", err)
	}
}

func TestReadOr(t *testing.T) {
	if got, err := ReadOr(strings.NewReader("abc"), "-", 3); err != nil || string(got) != "abc" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := ReadOr(strings.NewReader("abcd"), "-", 3); err == nil || !strings.Contains(err.Error(), "stdin") {
		t.Errorf("too much: %q, %v", got, err)
	}
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("of a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadOr(strings.NewReader("abc"), name, 99); err != nil || string(got) != "of a file" {
		t.Errorf("%q, %v", got, err)
	}
}
