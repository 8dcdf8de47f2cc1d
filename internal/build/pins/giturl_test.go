package pins

import (
	"strings"
	"testing"
)

func TestGitURL(t *testing.T) {
	for _, fine := range []string{
		"https://example.com/x", "https://example.com:8443/x.git", "http://10.0.0.1/x", "git://example.com/x", "file:///srv/a b/x", "/srv/x",
		"ssh://example.com/x", "ssh://git@example.com:22/~me/x", "git@example.com:x/y.git", "example.com:x", "me@[2001:db8::1]:x", "gh:x/y", "host_1:/srv/x",
	} {
		if what, fix := gitURL(fine); what != "" || fix != "" {
			t.Errorf("%s: %s; %s", fine, what, fix)
		}
	}
	for _, bad := range []string{
		"-", "--upload-pack=touch x;", "-c:x", "-u@example.com:x", "example.com:-x", "me@-oProxyCommand=x:y", "ssh://-oProxyCommand=x/y", "ssh://-oProxyCommand=x@example.com/y",
		"ext::sh -c x", "fd::17", "file::/x", "https::https://example.com/x", "::x", "EXT::sh -c x",
		"ext://x", "svn://example.com/x", "HTTPS://example.com/x", "https:///x", "https://", "://x", "x", "./x", "../x", "",
		"https://example.com/\nx", "/srv/x\x00", "me@example.com:x\r", "https://exa mple.com/x", "https://example.com:port/x",
	} {
		if what, fix := gitURL(bad); !strings.HasPrefix(what, "git can't be ") || fix == "" {
			t.Errorf("%q: %q; %q", bad, what, fix)
		}
	}
}

func TestGitURLHoldsNoCredentials(t *testing.T) {
	for _, url := range []string{
		"https://user:S3CRET@example.com/x", "https://S3CRET@example.com/x", "http://:S3CRET@example.com/x", "https://user:S3@CRET@example.com/x",
		"ssh://git:S3CRET@example.com/x", "git://S3CRET@example.com/x", "file://user:S3CRET@example.com/x",
	} {
		what, fix := gitURL(url)
		if !strings.Contains(what, "for everybody to read") || !strings.Contains(fix, "credential.helper") && !strings.Contains(fix, "ssh://git@example.com/x; ssh takes keys") {
			t.Errorf("%s: %q; %q", url, what, fix)
		}
		if text := what + fix + masked("git: "+url); strings.Contains(text, "S3") || strings.Contains(text, "CRET") {
			t.Errorf("%s is told in: %s", url, text)
		}
	}
	if what, _ := gitURL("https://user:S3/CRET@example.com/x"); what == "" || strings.Contains(what, "CRET") {
		t.Errorf("what is no URL: %s", what)
	}
	for _, base := range []string{"user:S3CRET@example.com/x:v1", `"user:S3@CRET@example.com/x@sha256:aa"`, "S3CRET@example.com/x@sha256:aa"} {
		if text := masked("base: " + base); strings.Contains(text, "S3") || strings.Contains(text, "CRET") || len(text) != len("base: "+base) || !strings.Contains(text, "example.com/x") {
			t.Errorf("%s is told as %s", base, text)
		}
	}
	for _, plain := range []string{"base: quay.io/me/x@sha256:aa", "base: quay.io/me/x:v1@sha256:aa # https://example.com/@/", "git@example.com:x", "ssh://git@example.com/x", "https://example.com/x@v1", "https://example.com:8443/o/r@v1.2", "git+https://h:8443/o/r@abc", "https://h:8443/o?at=x@y", "https://[2001:db8::1]:8443/x@y", "quay.io/me/x@sha256:aa # https://example.com/"} {
		if masked(plain) != plain {
			t.Errorf("%s became %s", plain, masked(plain))
		}
	}
}
