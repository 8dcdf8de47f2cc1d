package gitsrc

import "testing"

func TestReadFile(t *testing.T) {
	person(t, "[core]\n\tautocrlf = true\n")
	u := newUpstream(t)
	files := map[string]string{"a": "1\n", "crlf": "1\r\n", "x y/ü.ps1": "\x00\xff", "empty": "", ".gitattributes": "* text eol=crlf\n"}
	c, err := NewCache(t.TempDir()).Fetch(t.Context(), u.url(), u.commit("", files))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		if got, err := c.ReadFile(t.Context(), path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"none", "x y", "a/b"} {
		_, err := c.ReadFile(t.Context(), path)
		wantFault(t, err, "no file "+path+" in this commit", c.Hash)
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
