//go:build unix

package cas

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// otherEnv makes the test binary use the store that it names as another user
// would, and end.
const otherEnv = "WINBAKE_TEST_CAS_OTHER"

// asOther makes this process another user's, if it is to be one.
func asOther() {
	dir := os.Getenv(otherEnv)
	if dir == "" {
		return
	}
	if err := useAsOther(dir); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// useAsOther finds what the first user stored, notes its use, stores beside it
// and in its place, collects garbage and counts.
func useAsOther(dir string) error {
	syscall.Umask(0o002)
	s, err := Open(dir)
	if err != nil {
		return err
	}
	var v string
	if ok, err := s.GetAction(sumOf([]byte("first")), &v); err != nil || !ok {
		return fmt.Errorf("the first user's record: %v, %w", ok, err)
	}
	for i := range 300 { // into the first user's shards and new ones
		if _, _, err := s.Put(context.Background(), strings.NewReader(name(i))); err != nil {
			return err
		}
		if err := s.PutAction(sumOf([]byte(name(i))), name(i)); err != nil {
			return err
		}
	}
	if err := s.PutAction(sumOf([]byte("first")), "first", sumOf([]byte("first"))); err != nil {
		return err
	}
	s.Sweep(context.Background())
	if _, err := s.GC(context.Background(), GCOptions{}); err != nil {
		return err
	}
	_, err = s.Usage()
	return err
}

// groupFolder is a folder that a group shares: setgid, and everybody of the
// group may write.
func groupFolder(t *testing.T, gid int) string {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "winbake-cas-") //nolint:usetesting // others get there, and not into everybody's TMPDIR
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	dir := filepath.Join(base, "cache")
	for _, err := range []error{
		os.Chmod(base, 0o755), os.Mkdir(dir, 0o775), os.Chown(dir, -1, gid), os.Chmod(dir, 0o775|fs.ModeSetgid),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSharedFolder(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o002))
	dir := groupFolder(t, os.Getgid())
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	path, _ := s.actionPath(putAction(t, s, "first", put(t, s, "first")))
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o040)
		switch {
		case e.IsDir():
			want = fs.ModeSetgid | 0o070
		case p != s.crcPath(s.Path(sumOf([]byte("first")))): // the store's alone, and replaced as a whole
			want = 0o060
		}
		if info.Mode()&want != want {
			t.Errorf("%s has the mode %s", p, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		return // only root can be somebody else
	}
	age(t, path, 3*time.Hour)
	age(t, s.Path(sumOf([]byte("first"))), 3*time.Hour)
	_, cleanup, err := s.TempDir("build-") // which the other one can't look into
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	exe := filepath.Join(filepath.Dir(dir), "other")
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Dir, cmd.Env = "/", []string{otherEnv + "=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65533, Gid: uint32(os.Getgid())}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !has(t, s, "first") || s.Verify(sumOf([]byte("first"))) != nil {
		t.Error("the first user's blob was collected, which the second had looked up")
	}
	for i := range 300 {
		if !has(t, s, name(i)) {
			t.Fatalf("record %d of the other user isn't there", i)
		}
	}
}

// Files of the future, of a clock that was wrong, grow old too.
func TestFilesOfTheFuture(t *testing.T) {
	s := newStore(t)
	orphan := put(t, s, "orphan")
	age(t, s.Path(orphan), -100*day)
	gc(t, s, GCOptions{})
	if exists(s.Path(orphan)) {
		t.Error("an unused blob of the future stays for good")
	}
	old(t, s, "b", 10, -100*day)
	old(t, s, "a", 10, 3*time.Hour)
	gc(t, s, GCOptions{MaxBytes: 300}) // a record is some 200 bytes
	if !has(t, s, "a") || has(t, s, "b") {
		t.Error("what was used at some time of the future counts as used last")
	}
	used := old(t, s, "c", 10, -100*day)
	if _, err := s.Stat(used); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.Path(used)); err != nil || time.Until(info.ModTime()) > 0 {
		t.Errorf("a use wasn't noted: %v", err)
	}
}

// What killed processes left goes, and nothing else.
func TestSweep(t *testing.T) {
	s := newStore(t)
	dir, cleanup, err := s.TempDir("build-")
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	orphan := put(t, s, "orphan")
	age(t, s.Path(orphan), 100*day)
	abandon(t, s)
	for _, name := range []string{"blob-1", "build-1"} {
		age(t, filepath.Join(s.temp(), name), -100*day)
	}
	s.Sweep(t.Context())
	if got := files(t, s.temp()); len(got) != 1 || !exists(dir) { // the lock of the live folder
		t.Errorf("tmp holds %v", got)
	}
	if !exists(s.Path(orphan)) {
		t.Error("Sweep collected a blob")
	}
}
