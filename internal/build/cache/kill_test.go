package cache

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

// writerEnv makes the test binary write to the cache that it names until it is
// killed.
const writerEnv = "WINBAKE_TEST_CACHE_WRITER"

func name(i int) string { return fmt.Sprintf("action %d", i) }

func writeForEver(dir string) {
	s, err := Open(dir)
	fmt.Println("ready")
	for err == nil {
		err = writeOnce(s, rand.IntN(1<<12))
	}
	fmt.Println(err)
	os.Exit(1)
}

func writeOnce(s *Store, i int) error {
	dir, remove, err := s.TempDir()
	if err != nil {
		return err
	}
	defer remove() //nolint:errcheck // of a test
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
	return s.PutAction(sumOf(name(i)), d)
}

// Two writers at once are killed at any time: what is found afterwards is right.
func TestKilledWriters(t *testing.T) {
	s := newStore(t)
	left, found := 0, 0
	for range 30 {
		kill(t, s.dir)
		found += consistent(t, s)
		entries, err := os.ReadDir(filepath.Dir(s.unfinished))
		if err != nil {
			t.Fatal(err)
		}
		left += len(entries)
		s.Trim()
		noTemp(t, s)
	}
	if left == 0 {
		t.Error("no writer was killed at work: this test tests nothing")
	}
	if found == 0 {
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

// consistent checks that each record that is found is right, and its content is.
// It counts them.
func consistent(t *testing.T, s *Store) (found int) {
	t.Helper()
	for i := range 1 << 12 {
		d := recorded(s, name(i))
		if d == "" {
			continue
		}
		content := strings.Repeat(name(i), 1+i)
		got, err := get(s, d)
		if d != sumOf(content) || err == nil && got != content || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("record %d: %s, %v", i, d, err)
		}
		found++
	}
	return found
}
