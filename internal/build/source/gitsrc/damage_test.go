package gitsrc

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(data))
}

func flip(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	overwrite(t, path, data)
}

// loose returns the file of a loose object.
func loose(repo, hash string) string { return filepath.Join(repo, "objects", hash[:2], hash[2:]) }

// replace puts other content under the name of an object, as anyone who can write
// to the cache might.
func replace(t *testing.T, repo, hash, kind string, content []byte) {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	fmt.Fprintf(z, "%s %d\x00%s", kind, len(content), content)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	overwrite(t, loose(repo, hash), b.Bytes())
}

// swap is a tree in which b and c have changed places.
func swap(t *testing.T, u *upstream, hash string) []byte {
	t.Helper()
	var raw []byte
	for _, e := range [][2]string{{"b", "sub/c"}, {"c", "sub/b"}} {
		id, err := hex.DecodeString(u.git("rev-parse", hash+":"+e[1]))
		if err != nil {
			t.Fatal(err)
		}
		raw = append(fmt.Appendf(raw, "100644 %s\x00", e[0]), id...)
	}
	return raw
}

// pack is the one pack of a cached repository; of is pack, idx.
func pack(t *testing.T, repo, of string) string {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(repo, "objects", "pack", "*."+of))
	if err != nil || len(packs) != 1 {
		t.Fatalf("%q, %v: want one pack", packs, err)
	}
	return packs[0]
}

var sound = map[string]string{"a": "good\n", "sub/b": "good too\n", "sub/c": "also good\n"}

// What is wrong in the cache is told as that, or not given to anybody; and the
// command that is named fixes it.
func TestDamage(t *testing.T) {
	const packed = "[fetch]\n\tunpackLimit = 1\n"
	for name, c := range map[string]struct {
		config string
		damage func(t *testing.T, u *upstream, c *Commit)
	}{
		"a flipped bit": {"", func(t *testing.T, u *upstream, c *Commit) {
			flip(t, loose(c.repo, u.git("rev-parse", c.Hash+":sub/b")))
		}},
		"a flipped bit in a folder": {"", func(t *testing.T, u *upstream, c *Commit) {
			flip(t, loose(c.repo, u.git("rev-parse", c.Hash+":sub")))
		}},
		"a flipped bit in the commit": {"", func(t *testing.T, _ *upstream, c *Commit) { flip(t, loose(c.repo, c.Hash)) }},
		"an empty file": {"", func(t *testing.T, u *upstream, c *Commit) {
			overwrite(t, loose(c.repo, u.git("rev-parse", c.Hash+":sub/b")), nil)
		}},
		"another file": {"", func(t *testing.T, u *upstream, c *Commit) {
			replace(t, c.repo, u.git("rev-parse", c.Hash+":sub/b"), "blob", []byte("evil\n"))
		}},
		"a folder of other files": {"", func(t *testing.T, u *upstream, c *Commit) {
			replace(t, c.repo, u.git("rev-parse", c.Hash+":sub"), "tree", swap(t, u, c.Hash))
		}},
		"another commit": {"", func(t *testing.T, u *upstream, c *Commit) {
			replace(t, c.repo, c.Hash, "commit", []byte(u.git("cat-file", "commit", c.Hash)+" evil\n"))
		}},
		"a file that is gone": {"", func(t *testing.T, u *upstream, c *Commit) {
			if err := os.Remove(loose(c.repo, u.git("rev-parse", c.Hash+":sub/b"))); err != nil {
				t.Fatal(err)
			}
		}},
		"a flipped bit in a pack": {packed, func(t *testing.T, _ *upstream, c *Commit) { flip(t, pack(t, c.repo, "pack")) }},
		"a pack cut short": {packed, func(t *testing.T, _ *upstream, c *Commit) {
			data, err := os.ReadFile(pack(t, c.repo, "pack"))
			if err != nil {
				t.Fatal(err)
			}
			overwrite(t, pack(t, c.repo, "pack"), data[:len(data)/2])
		}},
		"a pack without its index": {packed, func(t *testing.T, _ *upstream, c *Commit) {
			if err := os.Remove(pack(t, c.repo, "idx")); err != nil {
				t.Fatal(err)
			}
		}},
		"a configuration that isn't one": {"", func(t *testing.T, _ *upstream, c *Commit) { writeFile(t, filepath.Join(c.repo, "config"), "[core\n") }},
	} {
		t.Run(name, func(t *testing.T) {
			person(t, c.config)
			u := newUpstream(t)
			cache := NewCache(filepath.Join(t.TempDir(), "it's a cache"))
			commit, err := cache.Fetch(t.Context(), u.url(), u.commit("", sound))
			if err != nil {
				t.Fatal(err)
			}
			c.damage(t, u, commit)
			if !wantNoticed(t, commit) {
				t.Error("nobody noticed")
			}
			// A second fetch may fix it, but may not return it.
			if again, err := cache.Fetch(t.Context(), u.url(), commit.Hash); err == nil {
				wantNoticed(t, again)
			} else {
				wantDamaged(t, err, commit.repo)
			}
			fix(t, cache, commit)
		})
	}
}

// wantNoticed wants c to give its own files, or a fault that says what to do.
func wantNoticed(t *testing.T, c *Commit) (noticed bool) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	if err := c.Checkout(t.Context(), dir, false); err == nil {
		wantFiles(t, dir, sound)
	} else {
		noticed = true
		wantDamaged(t, err, c.repo)
	}
	if text, err := content(t, c, "sub/b"); err == nil {
		if text != "good too\n" {
			t.Errorf("Open gives %q", text)
		}
	} else {
		noticed = true
		wantDamaged(t, err, c.repo)
	}
	return noticed
}

func wantDamaged(t *testing.T, err error, repo string) {
	t.Helper()
	wantFault(t, err, repo+": the cached copy of file://", "is damaged", "mv '"+strings.ReplaceAll(repo, "'", `'\''`)+"'")
}

// fix runs what the fault tells, in a shell.
func fix(t *testing.T, cache *Cache, c *Commit) {
	t.Helper()
	fix := damaged(c.repo, c.URL, "", nil).Error()
	_, command, _ := strings.Cut(fix, "again: ")
	sh(t, command)
	again, err := cache.Fetch(t.Context(), c.URL, c.Hash)
	if err != nil {
		t.Fatal(err)
	}
	if wantNoticed(t, again) {
		t.Error("it isn't fixed")
	}
}

// A sound cache isn't blamed for what goes wrong elsewhere, even where
// upstream's own objects aren't quite as git wants them.
func TestSoundCacheIsNotDamaged(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	raw := "tree " + u.git("rev-parse", u.commit("", sound)+"^{tree}") + "\nauthor t <t@example.com> 1700000000 +0200\ncommitter t <t@example.com> 1700000000 +051800\n\nm\n"
	hash := run(t, u.dir, raw, "hash-object", "-w", "-t", "commit", "--literally", "--stdin")
	u.git("update-ref", "refs/heads/main", hash)
	cache := NewCache(t.TempDir())
	c, err := cache.Fetch(t.Context(), u.url(), hash)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := command(t.Context(), c.repo, "fsck", hash).CombinedOutput(); err == nil || !strings.Contains(string(out), "badTimezone") {
		t.Fatalf("git doesn't mind: %s", out)
	}
	if words := fsck(t.Context(), c.repo, hash); words != "" {
		t.Errorf("a sound cache: %s", words)
	}
	_, err = cache.Fetch(t.Context(), u.url(), strings.Repeat("a", 40))
	wantFault(t, err, "isn't in the repository")
	_, err = c.Open(t.Context(), "none")
	wantFault(t, err, "no file none")
}
