package wine

import (
	"bytes"
	"debug/pe"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The shim's form is read by Go's own reader, and by Wine below.
func TestShimIsADLL(t *testing.T) {
	dll := Shim()
	if len(dll) != 1024 || !bytes.Equal(dll, Shim()) {
		t.Errorf("the shim has %d bytes, want 1024, the same each time", len(dll))
	}
	f, err := pe.NewFile(bytes.NewReader(dll))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != pe.IMAGE_FILE_MACHINE_AMD64 || f.Characteristics&pe.IMAGE_FILE_DLL == 0 || len(f.Sections) != 1 {
		t.Errorf("it is %+v with %d sections", f.FileHeader, len(f.Sections))
	}
	for _, text := range []string{"bcryptprimitives.dll", "ProcessPrng", "ADVAPI32.SystemFunction036"} {
		if !bytes.Contains(dll, append([]byte(text), 0)) {
			t.Errorf("it has no %s", text)
		}
	}
}

const program = `package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	_, err := os.Stat("Z:\\")
	fmt.Println(os.Args[1:], os.Getenv("SECRET"), err == nil)
	kernel := syscall.NewLazyDLL("kernel32.dll")
	switch os.Args[1] {
	case "ok":
		return
	case "fault":
		kernel.NewProc("RtlFillMemory").Call(8, 16, 0)
	case "fault of a thread":
		thread, _, _ := kernel.NewProc("CreateThread").Call(0, 0, 16, 0, 0, 0)
		kernel.NewProc("WaitForSingleObject").Call(thread, 60000)
		return
	case "panic":
		panic("no memory")
	case "child":
		child := exec.Command(os.Args[0], "stay")
		child.Stdout = os.Stdout
		if child.Start() != nil {
			os.Exit(1)
		}
		return
	case "stay":
		kernel.NewProc("Sleep").Call(3600000)
	}
	os.Exit(-7)
}
`

func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": program, "go.mod": "module x\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", "program", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return filepath.Join(dir, "program")
}

func TestPrograms(t *testing.T) {
	t.Setenv("SECRET", "hunter2")
	t.Setenv("TMPDIR", t.TempDir())
	p, err := NewPrefix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := build(t)
	for arg, exit := range map[string]int32{"ok": 0, "not ok": -7} {
		o, err := p.Run(t.Context(), file, arg)
		if want := "[" + arg + "]  false\n"; err != nil || o.Exit != exit || o.Text != want || o.Crash != "" {
			t.Errorf("%s: %+v, %v; want %q, code %d", arg, o, err, want, exit)
		}
	}
	for arg, crash := range map[string]string{"fault": "exception 0xC0000005", "fault of a thread": "Unhandled page fault on execute access", "panic": "panic: no memory"} {
		if o, err := p.Run(t.Context(), file, arg); err != nil || !strings.HasPrefix(o.Crash, crash) {
			t.Errorf("%s: %+v, %v; want a crash: %s", arg, o, err, crash)
		}
	}
	// A process that a program leaves behind holds that program's output.
	for _, arg := range []string{"child", "ok"} {
		o, err := p.Run(t.Context(), file, arg)
		if err != nil || o.Exit != 0 || !strings.HasPrefix(o.Text, "["+arg+"]") {
			t.Errorf("%s: %+v, %v", arg, o, err)
		}
	}
	if _, err := p.Run(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that isn't there runs")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(os.Getenv("TMPDIR") + "/*")
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

func TestNoWine(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	_, err := NewPrefix(t.Context())
	if err == nil || !strings.Contains(err.Error(), "apt-get install wine") {
		t.Errorf("without wine: %v", err)
	}
}
