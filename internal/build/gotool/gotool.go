// Package gotool runs the go command with an environment that is built from
// nothing, so that no setting of the person or the machine reaches the bytes
// of an executable.
//
// Two kinds of settings exist. Host settings say where bytes come from (proxy,
// checksum database, caches, certificates): they are the person's and are
// carried over. Target settings decide the bytes: they are ours alone and are
// part of every action.
package gotool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/proc"
	"github.com/winbake/winbake/internal/build/target"
)

// Local is the toolchain name of the builder's own Go, whatever it is.
const Local = "local"

// hostGoSettings are read with `go env`, since a person may have written them
// with `go env -w` into a file that GOENV=off hides from the build.
var hostGoSettings = []string{
	"GOAUTH", "GOCACHE", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB",
	"GOPATH", "GOPRIVATE", "GOPROXY", "GOSUMDB", "GOVCS",
}

// hostVariables are carried over as they are: they let go and git reach the
// network, find their files and authenticate, and change no byte of output.
var hostVariables = []string{
	"PATH", "HOME", "TMPDIR", "USER", "NETRC",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
	"http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSH_COMMAND", "SSH_AUTH_SOCK",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "XDG_CONFIG_HOME",
	// Windows' own.
	"APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE",
}

// Host is the machine's own Go and the settings that say where it gets
// sources from.
type Host struct {
	settings map[string]string

	mu   sync.Mutex
	once map[string]func() (string, error)
}

// NewHost asks the go command on PATH for the person's settings, once.
func NewHost(ctx context.Context) (*Host, error) {
	cmd := proc.Command(ctx, "go", append([]string{"env", "-json"}, hostGoSettings...)...)
	// A go.mod in the current folder must not make go switch toolchains here.
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=")
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, &fault.Error{
			What: "no go command on PATH",
			Fix:  "install Go 1.26 or later (https://go.dev/dl) and put its bin folder on PATH",
			Err:  err,
		}
	}
	if err != nil {
		return nil, &fault.Error{What: "go env fails", Excerpt: stderr(err), Err: err, Fix: "run go env, and fix what it says: a GO variable (env | grep ^GO), or the file that go env -w wrote"}
	}
	h := &Host{settings: map[string]string{}, once: map[string]func() (string, error){}}
	if err := json.Unmarshal(out, &h.settings); err != nil {
		return nil, fmt.Errorf("read go env: %w", err)
	}
	for _, name := range hostVariables {
		if v, ok := os.LookupEnv(name); ok {
			h.settings[name] = v
		}
	}
	return h, nil
}

// Override sets host settings, before the first command.
func (h *Host) Override(settings map[string]string) { maps.Copy(h.settings, settings) }

// Tool returns the go command of one toolchain: "go1.26.8", or Local.
func (h *Host) Tool(toolchain string) *Tool { return &Tool{host: h, Toolchain: toolchain} }

// Tool is the go command of one toolchain.
type Tool struct {
	host *Host
	// Toolchain is "go1.26.8" or Local, as GOTOOLCHAIN takes it.
	Toolchain string
	// GoCommand is the go command's path where the toolchain that PATH has is another
	// one of the same name; empty for PATH's. What that left in GOCACHE isn't taken.
	GoCommand string
	// Temp is the folder for what go removes when it ends by itself (GOTMPDIR);
	// empty for the machine's own.
	Temp string
}

// Setting is one variable of the environment.
type Setting struct{ Name, Value string }

// Target returns the settings that decide the bytes of an executable, sorted
// by name. fips is a GOFIPS140 version such as v1.0.0, or empty for none.
func Target(fips string) []Setting {
	fips = cmp.Or(fips, "off")
	return []Setting{
		{"CGO_ENABLED", "0"}, {"GOAMD64", target.Windows.AMD64}, {"GOARCH", target.Windows.Arch},
		{"GODEBUG", ""}, {"GOENV", "off"}, {"GOEXPERIMENT", ""},
		{"GOFIPS140", fips}, {"GOFLAGS", ""}, {"GOOS", target.Windows.OS},
		{"GOTELEMETRY", "off"}, {"GOWORK", "off"}, {"LC_ALL", "C"}, {"TZ", "UTC"},
	}
}

// Command makes a go command that runs in dir with the host's settings and
// the given target settings, and nothing else. It ends when this process does.
func (t *Tool) Command(ctx context.Context, dir string, settings []Setting, args ...string) *exec.Cmd {
	cmd := proc.Supervised(ctx, cmp.Or(t.GoCommand, "go"), args...)
	cmd.Dir = dir
	cmd.Env = []string{"GOTOOLCHAIN=" + t.Toolchain, "PWD=" + dir}
	if t.Temp != "" {
		cmd.Env = append(cmd.Env, "GOTMPDIR="+t.Temp)
	}
	for name, value := range t.host.settings {
		if name == "GOCACHE" && t.GoCommand != "" {
			value = filepath.Join(value, "published")
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	for _, s := range settings {
		cmd.Env = append(cmd.Env, s.Name+"="+s.Value)
	}
	sort.Strings(cmd.Env)
	return cmd
}

// broken is what the go command says of a connection that broke.
var broken = regexp.MustCompile(`https?://.*(?:TLS handshake timeout|connection reset by peer|unexpected EOF)`)

// Output runs the command and returns what it printed. A failure is an error
// that holds the go command's own words. The command asks a proxy for each of
// hundreds of modules once, and keeps what it got: where a connection broke, it is
// run a second time.
func (t *Tool) Output(ctx context.Context, dir string, target []Setting, args ...string) ([]byte, error) {
	for again := false; ; again = true {
		out, err := t.Command(ctx, dir, target, args...).Output()
		if err == nil {
			return out, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		// go mod download -json has its errors in the answer.
		if said := stderr(err); again || !broken.MatchString(said) && !broken.Match(out) {
			return out, NewFailure(args, said, err)
		}
	}
}

// Setting is a host setting such as GOPROXY.
func (t *Tool) Setting(name string) string { return t.host.settings[name] }

// Once calls find once for each key, whichever tool of the host asks.
func (t *Tool) Once(key string, find func() (string, error)) (string, error) {
	t.host.mu.Lock()
	answer := t.host.once[key]
	if answer == nil {
		answer = sync.OnceValues(find)
		t.host.once[key] = answer
	}
	t.host.mu.Unlock()
	return answer()
}

// Root is the toolchain's folder, GOROOT.
func (t *Tool) Root(ctx context.Context) (string, error) {
	out, err := t.Output(ctx, os.TempDir(), Target(""), "env", "GOROOT")
	return strings.TrimSpace(string(out)), err
}

// Version returns what identifies the toolchain: its name for a pinned one,
// and for Local the whole `go version` line, which tells Red Hat's Go from
// upstream's, with the hash of its tools.
func (t *Tool) Version(ctx context.Context) (string, error) {
	if t.Toolchain != Local {
		return t.Toolchain, nil
	}
	return t.Once(Local, func() (string, error) {
		out, err := t.Output(ctx, os.TempDir(), Target(""), "version")
		if err != nil {
			return "", err
		}
		root, err := t.Root(ctx)
		if err != nil {
			return "", err
		}
		tools, err := HashRoot(root, "tools", true)
		return strings.TrimSpace(string(out)) + " " + tools, err
	})
}

// HashRoot returns the h1 of a GOROOT's files below prefix: of those that the module
// of a toolchain has (cmd/distpack/pack.go), or of the tools alone.
func HashRoot(root, prefix string, tools bool) (string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		if d.IsDir() {
			switch rel {
			case ".git", ".github", "api", "doc", "misc", "test":
				return fs.SkipDir
			}
			return nil
		}
		if tool := strings.HasPrefix(rel, "pkg/tool/"+runtime.GOOS+"_"+runtime.GOARCH+"/"); tools && !tool ||
			strings.HasPrefix(rel, "pkg/") && !strings.HasPrefix(rel, "pkg/include/") && !(tool && shipped(rel)) {
			return nil
		}
		if path.Base(rel) == "go.mod" {
			rel = path.Dir(rel) + "/_go.mod"
		}
		files[prefix+"/"+rel] = name
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("read the toolchain: %w", err)
	}
	return dirhash.Hash1(slices.Collect(maps.Keys(files)), func(name string) (io.ReadCloser, error) { return os.Open(files[name]) })
}

// shipped tells a tool of Go's archives from one that was built on this machine.
func shipped(tool string) bool {
	return slices.Contains([]string{"asm", "cgo", "compile", "cover", "fix", "link", "preprofile", "vet"}, strings.TrimSuffix(path.Base(tool), ".exe"))
}

// Failure is a go command that ended with an error.
type Failure struct {
	Args    []string
	Message string // what go printed on stderr, without credentials
	Err     error
}

// NewFailure makes a Failure of what go printed, which may hold the address of
// a proxy with a token in it.
func NewFailure(args []string, printed string, err error) *Failure {
	return &Failure{Args: args, Message: printable.NoCredentials(printed), Err: err}
}

// Error returns the last line that go printed, which says what went wrong.
func (f *Failure) Error() string {
	lines := strings.Split(strings.TrimSpace(f.Message), "\n")
	return fmt.Sprintf("go %s: %s", f.Args[0], lines[len(lines)-1])
}

// Unwrap returns the process's own error.
func (f *Failure) Unwrap() error { return f.Err }

// stderr returns what a failed command printed on stderr, else err's text.
func stderr(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return string(exit.Stderr)
	}
	return err.Error()
}
