package compile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/build/cache"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source/gitsrc"
)

// large is a file's size in bytes; it has no blocks on disk.
const large = 64 << 20

// sparse makes a file of zeros and returns its sha256.
func sparse(t *testing.T, path string, size int64) string {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(f.Truncate(size), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if f, err = os.Open(path); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func carrier(t *testing.T) *Builder {
	t.Helper()
	store, err := cache.Open(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	return &Builder{Store: store, Git: gitsrc.NewCache(t.TempDir()), Events: event.Func(func(event.Event) {})}
}

// local is a component that is a file beside versions.yaml.
func local(t *testing.T, size int64) *Job {
	t.Helper()
	dir := t.TempDir()
	sum := sparse(t, filepath.Join(dir, "large.bin"), size)
	return &Job{
		File:      &pins.File{Path: filepath.Join(dir, "versions.yaml")},
		Component: &pins.Component{Name: "large", File: "large.bin", SHA256: sum},
		Locked:    &pins.Locked{SHA256: sum},
	}
}

// tracked is a component that is a file of a git tree.
func tracked(t *testing.T, size int64) *Job {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TZ", "UTC")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	sum := sparse(t, filepath.Join(dir, "large.bin"), size)
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet")
	git("add", "large.bin")
	git("commit", "--quiet", "-m", "m")
	return &Job{
		File:      &pins.File{Path: filepath.Join(dir, "versions.yaml")},
		Component: &pins.Component{Name: "large", Git: "file://" + dir, Commit: git("rev-parse", "HEAD"), Path: "large.bin"},
		Locked:    &pins.Locked{SHA256: sum, Tree: git("rev-parse", "HEAD:"), Date: git("log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd")},
	}
}

// A carried file goes through memory in pieces.
func TestCarryLargeFiles(t *testing.T) {
	for name, job := range map[string]func(*testing.T, int64) *Job{"file": local, "git": tracked} {
		t.Run(name, func(t *testing.T) {
			job, b := job(t, large), carrier(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			artifacts, err := b.Build(t.Context(), []*Job{job})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			if a := artifacts[0]; a.Size != large || a.Digest != "sha256:"+job.Locked.SHA256 {
				t.Errorf("%+v", a)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > large/8 {
				t.Errorf("%d bytes of memory were used for a file of %d", used, large)
			}
			wantZeros(t, b.Store, artifacts[0].Digest)
		})
	}
}

// A component that can't be made is told as failed, and one that can isn't.
func TestFailureIsTold(t *testing.T) {
	for name, fails := range map[string]bool{"sound": false, "no repository": true} {
		job, b := tracked(t, 1), carrier(t)
		if fails {
			job.Component.Git += "-elsewhere"
		}
		var told []event.State
		b.Events = event.Func(func(e event.Event) { told = append(told, e.State) })
		if _, err := b.Build(t.Context(), []*Job{job}); err != nil != fails {
			t.Errorf("%s: %v", name, err)
		}
		if slices.Contains(told, event.Failed) != fails {
			t.Errorf("%s: %v", name, told)
		}
	}
}

func wantZeros(t *testing.T, s *cache.Store, digest string) {
	t.Helper()
	r, err := s.Open(digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	buf := make([]byte, 1<<20)
	for total := 0; ; {
		n, err := io.ReadFull(r, buf)
		if total += n; err != nil {
			if err != io.EOF || total != large {
				t.Errorf("%d bytes, %v", total, err)
			}
			return
		}
		if bytes.Count(buf, []byte{0}) != len(buf) {
			t.Fatalf("not zeros before %d", total)
		}
	}
}

// What isn't the pinned file, or isn't there, is refused.
func TestCarryRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make   func(*testing.T, int64) *Job
		change func(*Job)
		want   string
	}{
		"another file":           {local, func(j *Job) { j.Component.SHA256 = strings.Repeat("a", 64) }, "pins aaaaaaaa"},
		"another file of a tree": {tracked, func(j *Job) { j.Locked.SHA256 = strings.Repeat("a", 64) }, "sha256:aaaaaaaa"},
		"no file":                {local, func(j *Job) { j.Component.File = "none" }, "none: no such file"},
		"another date":           {tracked, func(j *Job) { j.Locked.Date = pins.Epoch }, "the lock says tree"},
		"another tree":           {tracked, func(j *Job) { j.Locked.Tree = j.Component.Commit }, "the lock says tree"},
		"no file in a tree":      {tracked, func(j *Job) { j.Component.Path = "none" }, "no file none in this commit"},
	} {
		t.Run(name, func(t *testing.T) {
			job, b := c.make(t, 10), carrier(t)
			c.change(job)
			if a, err := b.carry(t.Context(), job); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}

// A lock that names the sum of another file in the store doesn't bring that
// file into a payload.
func TestCarryAsksTheTree(t *testing.T) {
	job, b := tracked(t, 10), carrier(t)
	for _, cached := range []bool{false, true} {
		artifacts, err := b.Build(t.Context(), []*Job{job})
		if err != nil || artifacts[0].Cached != cached {
			t.Fatalf("%+v, %v; cached should be %v", artifacts[0], err, cached)
		}
	}
	other := local(t, 11)
	if _, err := b.Build(t.Context(), []*Job{other}); err != nil {
		t.Fatal(err)
	}
	// A date that the lock misstates has no place in the cache.
	misstated := *job
	misstated.Locked = &pins.Locked{SHA256: job.Locked.SHA256, Tree: job.Locked.Tree, Date: pins.Epoch}
	if _, err := b.Build(t.Context(), []*Job{&misstated}); err == nil || !strings.Contains(err.Error(), "the lock says tree") {
		t.Errorf("a misstated date: %v", err)
	}
	job.Locked.SHA256 = other.Locked.SHA256
	if a, err := b.Lookup(t.Context(), job); a != nil || err != nil {
		t.Errorf("found %+v, %v", a, err)
	}
	if _, err := b.Build(t.Context(), []*Job{job}); err == nil || !strings.Contains(err.Error(), "sha256:"+other.Locked.SHA256+" is pinned") {
		t.Errorf("%v", err)
	}
}
