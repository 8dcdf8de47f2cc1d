package registry

import (
	"net/http"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for ref, want := range map[string]string{
		"quay.io/a/b:c": "", "quay.io/a/b@sha256:" + strings.Repeat("a", 64): "", "quay.io/a/b:c@sha256:" + strings.Repeat("a", 64): "",
		"":                                "docker://: not a registry reference",
		"quay.io/a/b@latest":              "not a registry reference",
		"UPPER/case":                      "not a registry reference",
		"https://quay.io/a/b":             "must not contain a URL scheme",
		"user:SECRET@quay.io/a/b":         "***@quay.io/a/b: a reference can't hold credentials\nfix: podman login quay.io, and leave out",
		"user:SECRET@quay.io:5000/a/b:c":  "fix: podman login quay.io:5000, and leave out",
		"SECRET@quay.io/a/b@sha256:00":    "podman login quay.io,",
		"https://user:SECRET@quay.io/a/b": "https://***@quay.io/a/b",
		"user:SE/CR@ET@quay.io/a/b":       "***@quay.io/a/b",
	} {
		_, err := Parse(ref, false)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", ref, err)
			}
			continue
		}
		switch {
		case err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "fix: "):
			t.Errorf("%s: %v, want %q", ref, err, want)
		case strings.Contains(err.Error(), "name.Insecure"):
			t.Errorf("%v has advice for programmers", err)
		case strings.Contains(err.Error(), "SE"):
			t.Errorf("%v shows the secret", err)
		}
	}
}

func TestTimeoutIsChecked(t *testing.T) {
	if _, err := New("quay.io/a/b", Options{Timeout: -1}); err == nil || !strings.Contains(err.Error(), "--registry-timeout 2m0s") {
		t.Error(err)
	}
}

// Plain http is for this machine alone, unless it was asked for.
func TestPlainHTTPIsRefused(t *testing.T) {
	for url, fine := range map[string]bool{
		"https://example.com/v2/": true, "https://10.0.0.1/v2/": true, "http://127.0.0.1:5000/v2/": true, "http://[::1]:5000/v2/": true, "http://localhost/v2/": true, "http://k3d-registry.localhost:5000/v2/": true,
		"http://example.com/v2/": false, "http://10.0.0.1:5000/v2/": false, "http://notlocalhost/v2/": false, "http://localhost.example.com/v2/": false,
	} {
		for _, insecure := range []bool{false, true} {
			c := clientOf(t, "example.com/p", Options{Insecure: insecure, Transport: &answers{status(http.StatusOK)}})
			err := get(t, c, url, strings.NewReader("x"))
			if want := fine || insecure; (err == nil) != want {
				t.Errorf("%s, insecure %v: %v", url, insecure, err)
			}
		}
	}
}

func TestLogin(t *testing.T) {
	for host, want := range map[string]string{
		"":         "podman login quay.io, with an account that may push to a/b",
		"10.0.0.1": "give this pod a login that may push to a/b: mount a Secret",
	} {
		t.Setenv("KUBERNETES_SERVICE_HOST", host)
		if got := login("quay.io", "push to a/b"); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
