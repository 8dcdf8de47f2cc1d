package cas

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writerEnv makes the test binary write to the store that it names until it
// is killed.
const writerEnv = "WINBAKE_TEST_CAS_WRITER"

func writeForEver(dir string) {
	s, err := Open(dir)
	fmt.Println("ready")
	for i := 0; err == nil; i++ {
		err = writeOnce(s, rand.IntN(1<<16))
	}
	fmt.Println(err)
	os.Exit(1)
}

func writeOnce(s *Store, i int) error {
	dir, cleanup, err := s.TempDir("build-")
	if err != nil {
		return err
	}
	defer cleanup()
	content := strings.Repeat(name(i), 1+i)
	if err := os.WriteFile(filepath.Join(dir, "out"), []byte(content), 0o644); err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(dir, "out"))
	if err != nil {
		return err
	}
	defer f.Close()
	d, _, err := s.Put(context.Background(), f)
	if err != nil {
		return err
	}
	return s.PutAction(sumOf([]byte(name(i))), name(i), d)
}

func TestKilledWriters(t *testing.T) {
	s := newStore(t)
	left := 0
	for range 25 {
		kill(t, s.Dir())
		consistent(t, s)
		entries, err := os.ReadDir(s.temp())
		if err != nil {
			t.Fatal(err)
		}
		left += len(entries)
		gc(t, s, GCOptions{})
		noTemp(t, s)
	}
	if left == 0 {
		t.Error("no writer was killed at work: this test tests nothing")
	}
	if len(files(t, s.actions())) == 0 {
		t.Error("nothing was ever finished")
	}
}

// kill starts two writers and kills them at some point of their work.
func kill(t *testing.T, dir string) {
	t.Helper()
	var writers []*exec.Cmd
	for range 2 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), writerEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || line != "ready\n" {
			t.Fatalf("the writer says %q, %v", line, err)
		}
		writers = append(writers, cmd)
	}
	time.Sleep(rand.N(30 * time.Millisecond))
	for _, cmd := range writers {
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range writers {
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("it wasn't killed: %v", err)
		}
	}
}

// consistent checks that each blob has its digest and each record its blobs.
func consistent(t *testing.T, s *Store) {
	t.Helper()
	for _, f := range files(t, s.blobs()) {
		if err := s.Verify(digestPrefix + filepath.Base(f)); err != nil {
			t.Error(err)
		}
	}
	for _, f := range files(t, s.actions()) {
		var v string
		if ok, err := s.GetAction(digestPrefix+filepath.Base(f), &v); !ok || err != nil {
			t.Error(errors.Join(fmt.Errorf("record %s: %v", f, ok), err))
		}
	}
}
