package gomod

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/sumdb/note"

	"github.com/winbake/winbake/internal/build/gotool"
)

// serveSums is a checksum database that knows go1.26.8 on Linux, at an address and with
// a key.
func serveSums(t *testing.T, name string) (address, key string) {
	t.Helper()
	secret, key, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	server := sumdb.NewServer(sumdb.NewTestServer(secret, func(path, version string) ([]byte, error) {
		if path != toolchainModule || !strings.HasPrefix(version, "v0.0.1-go1.26.8.linux-a") {
			return nil, os.ErrNotExist
		}
		return fmt.Appendf(nil, "%s %s h1:%s\n%[1]s %[2]s/go.mod h1:mod\n", path, version, strings.TrimPrefix(version, "v0.0.1-go1.26.8.")), nil
	}))
	mux := http.NewServeMux()
	for _, prefix := range []string{"", "/proxy/sumdb/" + name} {
		for _, path := range sumdb.ServerPaths {
			mux.Handle(prefix+path, http.StripPrefix(prefix, server))
		}
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL, key
}

func TestToolchainSums(t *testing.T) {
	address, key := serveSums(t, "sums.example")
	_, other := serveSums(t, "sums.example")
	nowhere := "http://127.0.0.1:1"
	want := "linux-amd64 h1:linux-amd64,linux-arm64 h1:linux-arm64"
	for name, c := range map[string]struct {
		proxy, db, nosum, toolchain string
		want, err                   string
	}{
		"by a proxy":         {address + "/proxy", key, "", "go1.26.8", want, ""},
		"a second proxy":     {nowhere + "|" + address + "/proxy/", key, "", "go1.26.8", want, ""},
		"itself":             {"off", key + " " + address, "", "go1.26.8", want, ""},
		"a proxy without":    {address + "/none", key + " " + address, "", "go1.26.8", want, ""},
		"no such toolchain":  {"off", key + " " + address, "", "go1.99.9", "", ""},
		"another's key":      {"off", other + " " + address, "", "go1.26.8", "", "no verifiable signatures"},
		"nobody answers":     {"off", key + " " + nowhere, "", "go1.26.8", "", "ask the checksum database for go1.26.8"},
		"no database":        {address + "/proxy", "off", "", "go1.26.8", "", ""},
		"not for toolchains": {address + "/proxy", key, "golang.org/*", "go1.26.8", "", ""},
		"the machine's Go":   {address + "/proxy", key, "", gotool.Local, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOPROXY", c.proxy)
			t.Setenv("GOSUMDB", c.db)
			t.Setenv("GONOSUMDB", c.nosum)
			host, err := gotool.NewHost(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sums, err := ToolchainSums(t.Context(), host.Tool(c.toolchain))
			if got := strings.Join(sums, ","); got != c.want {
				t.Errorf("got %q", got)
			}
			if said := fmt.Sprint(err); c.err == "" && err != nil || !strings.Contains(said, c.err) {
				t.Errorf("said %v", err)
			}
		})
	}
}

// The files of a GOROOT are those of the module; what was made or changed on the
// machine shows where it decides bytes.
func TestHashRoot(t *testing.T) {
	tools := "pkg/tool/" + runtime.GOOS + "_" + runtime.GOARCH + "/"
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hash := func(only bool) string {
		t.Helper()
		h, err := gotool.HashRoot(root, "golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64", only)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	for _, name := range []string{"VERSION", "bin/go", "src/go.mod", "src/fmt/print.go", tools + "compile", "pkg/include/textflag.h"} {
		write(name, name)
	}
	all, alone := hash(false), hash(true)
	prefix := "golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64/"
	names := []string{"VERSION", "bin/go", "src/_go.mod", "src/fmt/print.go", tools + "compile", "pkg/include/textflag.h"}
	for i, name := range names {
		names[i] = prefix + name
	}
	want, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(root, strings.Replace(strings.TrimPrefix(name, prefix), "_go.mod", "go.mod", 1)))
	})
	if err != nil || all != want || all == alone {
		t.Fatalf("%s, not %s, tools %s, %v", all, want, alone, err)
	}
	for _, c := range []struct {
		file       string
		all, alone bool // what changes
	}{
		{tools + "doc", false, false}, {"pkg/obj/x.a", false, false}, {"api/go1.txt", false, false}, {"test/x.go", false, false}, {".git/HEAD", false, false},
		{"src/fmt/.hidden", true, false}, {"go.env", true, false}, {"bin/go", true, false}, {tools + "link", true, true}, {tools + "compile", true, true},
	} {
		write(c.file, "changed "+c.file)
		nowAll, nowAlone := hash(false), hash(true)
		if (nowAll != all) != c.all || (nowAlone != alone) != c.alone {
			t.Errorf("%s: %v %v", c.file, nowAll != all, nowAlone != alone)
		}
		all, alone = nowAll, nowAlone
	}
	if !slices.IsSorted(builders) {
		t.Error("a lock's lines are sorted")
	}
}
