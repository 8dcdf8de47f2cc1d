// Package script runs bake and verify as a person does, from scripts in
// testdata: arguments in, stdout, stderr, files and exit codes out. It has no
// code of its own.
package script

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"

	"github.com/winbake/winbake/test/support/jq"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
	"github.com/winbake/winbake/internal/cli/verify"
	"github.com/winbake/winbake/test/images"
	"github.com/winbake/winbake/test/support/keypair"
	"github.com/winbake/winbake/test/support/testproxy"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bake":   judged(bake.New),
		"verify": judged(verify.New),

		"kubectl-winbake": func() { os.Exit(app.Main(verify.New)) },
		"jq":              jq.Main,
	})
}

func TestScripts(t *testing.T) {
	held := t.TempDir()
	t.Cleanup(func() { everyCommandIsHeld(t, held) })
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HELD", held)
			return setup(env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":  code,
			"pin":   pin,
			"count": countFiles,
			"proxy": proxy,
			"base":  windowsBase,

			"replace": replace,
			"sign":    sign,
			"keys":    keys,
			"cured":   cured,
			"works":   works,
		},
	})
}

// compiled is the machine's folder of compiled packages: Go's own for Windows are compiled
// once, and not in each script.
var compiled = sync.OnceValue(func() string {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(out))
})

// setup gives each script a registry of its own, an empty cache, and the
// machine's Go with a module cache that scripts share.
func setup(env *testscript.Env) error {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(discard{}, "", 0))))
	env.Defer(server.Close)
	repo, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	env.Setenv("REPO", repo)
	env.Setenv("SCHEMA", filepath.Join(repo, "docs/output.schema.json"))
	env.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
	env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/cache")
	env.Setenv("HOME", env.WorkDir+"/home")
	env.Setenv("GOCACHE", compiled())
	for _, name := range []string{"GOPATH", "GOMODCACHE", "GOPROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if v := os.Getenv(name); v != "" {
			env.Setenv(name, v)
		}
	}
	return nil
}

// proxy serves the modules of a txtar file instead of the machine's proxy,
// into a module cache of the script's own: proxy modules.txt. Further arguments
// are the date and the commit that it tells of every version; each such proxy
// has a module cache of its own: proxy modules.txt 2025-01-02T03:04:05Z COMMIT.
func proxy(ts *testscript.TestScript, _ bool, args []string) {
	work := ts.Getenv("WORK")
	var told testproxy.Told
	if len(args) > 1 {
		told.Time = args[1]
		work = filepath.Join(work, "proxies", strings.Join(args[1:], "-"))
	}
	if len(args) > 2 {
		told.Commit = args[2]
	}
	// testscript has taken the script's own archive apart; "-- " lines of the
	// inner one are written with "== ".
	text := strings.ReplaceAll(ts.ReadFile(args[0]), "== ", "-- ")
	text = strings.ReplaceAll(text, " ==", " --")
	ts.Check(testproxy.Write(work+"/proxy", txtar.Parse([]byte(text)), told))
	for k, v := range map[string]string{
		"GOPROXY": "file://" + work + "/proxy", "GOSUMDB": "off", "GONOSUMDB": "example.com", "GONOSUMCHECK": "", "GOMODCACHE": work + "/modcache", "GOFLAGS": "",
	} {
		ts.Setenv(k, v)
	}
	ts.Defer(func() { _ = exec.Command("chmod", "-R", "u+w", work+"/modcache").Run() }) // it is read-only by design
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// code runs a command and compares its exit code: code 3 verify payload x.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		if _, scanErr := fmt.Sscanf(err.Error(), "exit status %d", &got); scanErr != nil {
			ts.Fatalf("%v", err)
		}
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// replace changes a text in a file, which must be there: replace path old new.
func replace(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	if !strings.Contains(string(data), args[1]) {
		ts.Fatalf("%s holds no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(data), args[1], args[2])), 0o600))
}

// pin puts the sha256 of a file into another one's @SUM@: pin file versions.yaml.
func pin(ts *testscript.TestScript, _ bool, args []string) {
	sum := sha256.Sum256([]byte(ts.ReadFile(args[0])))
	path := ts.MkAbs(args[1])
	text := strings.Replace(ts.ReadFile(args[1]), "@SUM@", hex.EncodeToString(sum[:]), 1)
	ts.Check(os.WriteFile(path, []byte(text), 0o644))
}

// sign gives a program a certificate table and a checksum, as a signing tool does, in
// the place of a signature: sign IN OUT. Nothing here asks whose it is.
func sign(ts *testscript.TestScript, _ bool, args []string) {
	exe := []byte(ts.ReadFile(args[0]))
	for len(exe)%8 != 0 {
		exe = append(exe, 0)
	}
	at := binary.LittleEndian.Uint32(exe[60:])
	binary.LittleEndian.PutUint32(exe[at+88:], 0xfeed)
	binary.LittleEndian.PutUint32(exe[at+168:], uint32(len(exe)))
	binary.LittleEndian.PutUint32(exe[at+172:], 24)
	exe = append(exe, "\x18\x00\x00\x00\x00\x02\x02\x00a signature.....\n"[:24]...)
	path := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(os.WriteFile(path, exe, 0o644))
}

// keys makes a key pair: keys NAME writes NAME.key and NAME.pub.
func keys(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	ts.Check(keypair.Write(name+".key", name+".pub"))
}

// windowsBase plays a Windows base image in an OCI layout: base DIR [OSVERSION], or
// base DIR empty for one whose registry files are empty.
func windowsBase(ts *testscript.TestScript, _ bool, args []string) {
	osVersion, hive := strings.Join(args[1:], ""), images.Hive
	if osVersion == "empty" {
		osVersion, hive = "", ""
	}
	ts.Check(images.WriteWindowsBase(ts.MkAbs(args[0]), osVersion, hive))
}

// countFiles compares how many entries a folder has: count 3 dir.
func countFiles(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[1]))
	ts.Check(err)
	if strconv.Itoa(len(entries)) != args[0] {
		ts.Fatalf("%s has %d entries, want %s", args[1], len(entries), args[0])
	}
}
