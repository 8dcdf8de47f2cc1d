package gitsrc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing that is in the place of a URL or a commit is an option or a
// command to git, whatever the person's settings allow.
func TestAddressesRunNothing(t *testing.T) {
	person(t, "[protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n")
	mark := filepath.Join(t.TempDir(), "mark")
	u := newUpstream(t)
	hash := u.commit("", map[string]string{"a": "1"})
	for _, url := range []string{"--upload-pack=touch " + mark + ";", "ext::touch " + mark} {
		_, err := NewCache(t.TempDir()).Fetch(t.Context(), url, hash)
		wantFault(t, err, "can't be fetched", "git ls-remote '"+url+"'")
		_, err = Tags(t.Context(), url)
		wantFault(t, err, "can't be had")
		if _, err := os.Stat(mark); err == nil {
			t.Fatalf("%s was run", url)
		}
	}
}

func TestFetchRefusesWhatIsNoCommit(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	u.commit("", map[string]string{"a": "1"})
	for _, hash := range []string{"", "main", "--output=x", "-" + strings.Repeat("a", 39), strings.Repeat("a", 39), strings.Repeat("A", 40), strings.Repeat("a", 40) + "\n"} {
		dir := filepath.Join(t.TempDir(), "git")
		_, err := NewCache(dir).Fetch(t.Context(), u.url(), hash)
		wantFault(t, err, "isn't a full commit")
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("git was asked for %q", hash)
		}
	}
}

// Git tells the URL of a submodule as it is in .gitmodules.
func TestCredentialsAreNotTold(t *testing.T) {
	person(t, "")
	u := newUpstream(t)
	hash := u.commit("", map[string]string{
		".gitmodules": "[submodule \"s\"]\n\tpath = s\n\turl = https://user:S3CRET@127.0.0.1:1/x\n",
		"s":           "submodule " + strings.Repeat("a", 40),
	})
	c, err := NewCache(t.TempDir()).Fetch(t.Context(), u.url(), hash)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Checkout(t.Context(), filepath.Join(t.TempDir(), "tree"), true)
	wantFault(t, err, "a submodule can't be fetched", "https://***@127.0.0.1:1/x")
	if strings.Contains(err.Error(), "S3CRET") {
		t.Errorf("%v", err)
	}
}
