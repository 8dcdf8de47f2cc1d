package gitsrc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/winbake/winbake/test/support/await"
)

// strict makes git speak the protocol in which a server refuses commits that
// no ref names (protocol v2 servers give every object that they have).
const strict = "[protocol]\n\tversion = 0\n"

func isShallow(c *Commit) bool {
	_, err := os.Stat(filepath.Join(c.repo, "shallow"))
	return err == nil
}

func TestFetch(t *testing.T) {
	for name, c := range map[string]struct {
		config  string
		allow   string
		before  bool // the branch's tip is fetched first
		shallow bool
	}{
		"by commit": {shallow: true},
		"by commit, old protocol, server allows it": {config: strict, allow: "true", shallow: true},
		"refused": {config: strict, allow: "false"},
		"refused, with the tip in a shallow cache":   {config: strict, allow: "false", before: true},
		"by commit, with the tip in a shallow cache": {before: true, shallow: true},
	} {
		t.Run(name, func(t *testing.T) {
			person(t, c.config)
			u := newUpstream(t)
			if c.allow != "" {
				u.git("config", "uploadpack.allowReachableSHA1InWant", c.allow)
			}
			first := u.commit("", map[string]string{"a": "1"})
			pinned := u.commit(first, map[string]string{"a": "2"})
			tip := u.commit(pinned, map[string]string{"a": "3"})
			cache := NewCache(filepath.Join(t.TempDir(), "git"))
			if c.before {
				if got, err := cache.Fetch(t.Context(), u.url(), tip); err != nil || !isShallow(got) {
					t.Fatalf("%+v, %v", got, err)
				}
			}
			got, err := cache.Fetch(t.Context(), u.url(), pinned)
			if err != nil {
				t.Fatal(err)
			}
			if isShallow(got) != c.shallow {
				t.Errorf("shallow: %v", !c.shallow)
			}
			wantCommit(t, u, got, pinned)
		})
	}
}

// wantCommit compares what was fetched with upstream's own words.
func wantCommit(t *testing.T, u *upstream, c *Commit, hash string) {
	t.Helper()
	if c.Hash != hash || c.URL != u.url() || c.Tree != u.git("rev-parse", hash+"^{tree}") {
		t.Errorf("%+v", c)
	}
	if want := time.Unix(1700000000, 0).UTC(); c.Time != want {
		t.Errorf("time %v, want %v", c.Time, want)
	}
	if data, err := content(t, c, "a"); err != nil || data != u.git("show", hash+":a") {
		t.Errorf("%q, %v", data, err)
	}
}

func TestFetchAgainAsksNobody(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	hash := u.commit("", map[string]string{"a": "1"})
	dir := t.TempDir()
	if _, err := NewCache(dir).Fetch(t.Context(), u.url(), hash); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(u.dir, u.dir+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := NewCache(dir).Fetch(t.Context(), u.url(), hash); err != nil {
		t.Errorf("a commit that is here: %v", err)
	}
}

func TestFetchRefuses(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	gone := u.commit("", map[string]string{"a": "1"})
	here := u.commit("", map[string]string{"a": "2"}) // force-pushed over the first
	u.git("-c", "user.name=t", "-c", "user.email=t@example.com", "tag", "-a", "-m", "m", "v1", here)
	u.git("reflog", "expire", "--expire=now", "--all")
	u.git("gc", "--quiet", "--prune=now")
	for name, c := range map[string]struct{ url, hash, want string }{
		"a commit that is gone": {u.url(), gone, "commit " + gone + " isn't in the repository"},
		"a tag object":          {u.url(), u.git("rev-parse", "v1"), "is a tag, not a commit"},
		"a tree":                {u.url(), u.git("rev-parse", here+"^{tree}"), "is a tree, not a commit"},
		"a blob":                {u.url(), u.git("rev-parse", here+":a"), "is a blob, not a commit"},
		"no repository":         {u.url() + ".none", here, "git ls-remote " + u.url() + ".none"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewCache(t.TempDir()).Fetch(t.Context(), c.url, c.hash)
			wantFault(t, err, c.want)
		})
	}
}

// A mirror that can't send everything still says that it doesn't have a commit.
func TestFetchRefusesOfPartialMirror(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	here := u.commit("", map[string]string{"a": "1"})
	blob := u.git("rev-parse", here+":a")
	if err := os.Remove(filepath.Join(u.dir, "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	gone := strings.Repeat("1", len(here))
	_, err := NewCache(t.TempDir()).Fetch(t.Context(), u.url(), gone)
	wantFault(t, err, "commit "+gone+" isn't in the repository")
}

func TestFetchSHA256Repository(t *testing.T) {
	person(t, "")
	u := newUpstream(t, "--object-format=sha256")
	hash := u.commit("", map[string]string{"a": "1"})
	c, err := NewCache(t.TempDir()).Fetch(t.Context(), u.url(), hash)
	if err != nil {
		t.Fatal(err)
	}
	wantCommit(t, u, c, hash)
	dir := filepath.Join(t.TempDir(), "tree")
	if err := c.Checkout(t.Context(), dir, false); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, map[string]string{"a": "1"})
}

func TestFetchAtOnce(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	var hashes []string
	for _, text := range []string{"1", "2", "3"} {
		hashes = append(hashes, u.commit("", map[string]string{"a": text}))
		u.git("branch", "b"+text, "main")
	}
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			hash := hashes[i%len(hashes)]
			c, err := NewCache(dir).Fetch(t.Context(), u.url(), hash) // as another process would
			if err != nil || c.Hash != hash {
				t.Errorf("%s: %v", hash, err)
				return
			}
			if err := c.Checkout(t.Context(), filepath.Join(t.TempDir(), "tree"), false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// A person's settings that print more, ask more or fetch more.
func TestFetchWithAPersonsSettings(t *testing.T) {
	gpg := filepath.Join(t.TempDir(), "gpg")
	if err := os.WriteFile(gpg, []byte("#!/bin/sh\necho 'gpg: Good signature' >&2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	person(t, "[log]\n\tshowSignature = true\n[submodule]\n\trecurse = true\n[fetch]\n\tprune = true\n[gpg]\n\tprogram = "+gpg+"\n[color]\n\tui = always\n")
	u := newUpstream(t)
	first := u.commit("", map[string]string{"a": "1"})
	headers, message, _ := strings.Cut(u.git("cat-file", "commit", first), "\n\n")
	signed := headers + "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n" + message
	hash := run(t, u.dir, signed, "hash-object", "-w", "-t", "commit", "--stdin")
	u.git("update-ref", "refs/heads/main", hash)
	c, err := NewCache(t.TempDir()).Fetch(t.Context(), u.url(), hash)
	if err != nil {
		t.Fatal(err)
	}
	wantCommit(t, u, c, hash)
}

// GIT_DIR is set where bake runs in a git hook.
func TestFetchIgnoresAnotherRepository(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	hash := u.commit("", map[string]string{"a": "1"})
	other := newUpstream(t)
	t.Setenv("GIT_DIR", other.dir)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other.dir, "index"))
	c, err := NewCache(t.TempDir()).Fetch(t.Context(), u.url(), hash)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "tree")
	if err := c.Checkout(t.Context(), dir, false); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, map[string]string{"a": "1"})
	if _, err := os.Stat(filepath.Join(other.dir, "index")); err == nil {
		t.Error("the other repository has an index now")
	}
}

func TestFetchStopsWithItsContext(t *testing.T) {
	person(t, "")
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	ssh := filepath.Join(dir, "ssh")
	if err := os.WriteFile(ssh, []byte("#!/bin/sh\necho $$ > "+pidFile+".new && mv "+pidFile+".new "+pidFile+"\nexec sleep 3600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_SSH_COMMAND", ssh)
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := NewCache(filepath.Join(dir, "git")).Fetch(ctx, "ssh://host.invalid/x", strings.Repeat("a", 40))
		done <- err
	}()
	pid := waitForPID(t, pidFile)
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("%v, want the context's cause", err)
	}
	await.True(t, "git's own child ends", func() bool { return !alive(pid) })
}

func waitForPID(t *testing.T, path string) int {
	t.Helper()
	var data []byte
	await.True(t, "the child starts", func() (there bool) {
		var err error
		data, err = os.ReadFile(path)
		return err == nil
	})
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive reports whether a process runs; one that nobody has waited for yet is
// no longer running.
func alive(pid int) bool {
	if p, err := os.FindProcess(pid); err != nil || p.Signal(syscall.Signal(0)) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
