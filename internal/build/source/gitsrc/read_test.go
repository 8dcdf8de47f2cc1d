package gitsrc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/support/await"
)

// content opens a file of a commit and reads it whole.
func content(t *testing.T, c *Commit, path string) (string, error) {
	t.Helper()
	r, err := c.Open(t.Context(), path)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(r)
	if closed := r.Close(); closed != nil {
		t.Errorf("close %s: %v", path, closed)
	}
	return string(data), err
}

func TestOpen(t *testing.T) {
	person(t, "[core]\n\tautocrlf = true\n")
	u := newUpstream(t)
	files := map[string]string{"a": "1\n", "crlf": "1\r\n", "x y/ü.ps1": "\x00\xff", "empty": "", ".gitattributes": "* text eol=crlf\n", "b/c/d": "deep"}
	c, err := NewCache(t.TempDir()).Fetch(t.Context(), u.url(), u.commit("", files))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		if got, err := content(t, c, path); err != nil || got != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"none", "x y", "a/b", "b/c", "b/c/", "/a", "b/*/d", ""} {
		_, err := c.Open(t.Context(), path)
		wantFault(t, err, "no file "+path+" in this commit", c.Hash)
	}
}

func TestOpenRefusesALink(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	hash := u.commit("", map[string]string{"a": "1"})
	tree := run(t, u.dir, "120000 blob "+u.git("rev-parse", hash+":a")+"\tlink\n", "mktree")
	hash = u.git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit-tree", "-m", "m", tree)
	u.git("update-ref", "refs/heads/main", hash)
	c, err := NewCache(t.TempDir()).Fetch(t.Context(), u.url(), hash)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Open(t.Context(), "link")
	wantFault(t, err, "link is a link", "git show "+hash+":link")
}

// Anyone who stops in the middle of a large file isn't kept by its git.
func TestOpenAndStop(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	c, err := NewCache(t.TempDir()).Fetch(t.Context(), u.url(), u.commit("", map[string]string{"a": strings.Repeat("0123456789abcdef", 1<<16)}))
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("interrupted")
	for name, stop := range map[string]func(io.ReadCloser, context.CancelCauseFunc) error{
		"closed": func(r io.ReadCloser, _ context.CancelCauseFunc) error { return r.Close() },
		"cancelled": func(r io.ReadCloser, cancel context.CancelCauseFunc) error {
			cancel(why)
			if _, err := io.Copy(io.Discard, r); !errors.Is(err, why) {
				return fmt.Errorf("%w, want the context's cause", err)
			}
			return r.Close()
		},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r, err := c.Open(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		process := r.(*blob).cmd.Process.Pid
		if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if err := stop(r, cancel); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		await.True(t, name+": git ends", func() bool { return !alive(process) })
		cancel(nil)
	}
}

func TestTags(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	first := u.commit("", map[string]string{"a": "1"})
	second := u.commit(first, map[string]string{"a": "2"})
	u.git("tag", "v1.0.0", first)
	u.git("-c", "user.name=t", "-c", "user.email=t@example.com", "tag", "-a", "-m", "m", "v1.1.0", second)
	got, err := Tags(t.Context(), u.url())
	if err != nil || len(got) != 2 || got["v1.0.0"] != first || got["v1.1.0"] != second {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Tags(t.Context(), newUpstream(t).url()); err != nil || len(got) != 0 {
		t.Errorf("no tags: %v, %v", got, err)
	}
	_, err = Tags(t.Context(), u.url()+".none")
	wantFault(t, err, "its tags can't be had", "git ls-remote --tags")
}

func TestNoGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Tags(t.Context(), "https://example.invalid/x")
	wantFault(t, err, "git")
}
