package gomod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/gotool"
)

const toolchainModule = "golang.org/toolchain"

// builders are the systems that a program may be compiled on: those of bake's own
// archives, and the other two that OpenShift runs on.
var builders = []string{"darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64", "linux-ppc64le", "linux-s390x", "windows-amd64", "windows-arm64"}

// publicKey is that of sum.golang.org, as cmd/go/internal/modfetch/key.go has it.
const publicKey = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"

// ToolchainSums are the h1 of tool's toolchain module for each system that it may run
// on, as "linux-amd64 h1:...", by the checksum database. There are none for the
// machine's own Go, and where GOSUMDB or GONOSUMDB keeps the database out.
func ToolchainSums(ctx context.Context, tool *gotool.Tool) ([]string, error) {
	db := newDatabase(ctx, tool)
	if tool.Toolchain == gotool.Local || db == nil {
		return nil, nil
	}
	client := sumdb.NewClient(db)
	var sums []string
	for _, system := range builders {
		version := toolchainVersion(tool, system)
		lines, err := client.Lookup(toolchainModule, version)
		if db.missing {
			continue // there is none for this system
		}
		if err != nil {
			return nil, fmt.Errorf("ask the checksum database for %s %s: %w", tool.Toolchain, system, err)
		}
		for _, line := range lines {
			if h1, ok := strings.CutPrefix(line, toolchainModule+" "+version+" "); ok {
				sums = append(sums, system+" "+h1)
			}
		}
	}
	return sums, nil
}

func toolchainVersion(tool *gotool.Tool, system string) string {
	return "v0.0.1-" + tool.Toolchain + "." + system
}

// DownloadToolchain brings the module that this system's toolchain of tool is.
func DownloadToolchain(ctx context.Context, tool *gotool.Tool) (*Module, error) {
	return Download(ctx, tool, toolchainModule, toolchainVersion(tool, runtime.GOOS+"-"+runtime.GOARCH))
}

// ProveToolchain makes tool run the very toolchain that sums are of, which its name
// alone doesn't tell: the machine's own Go of that name where its files are those of
// the module, else the module. Sums that don't have this system prove nothing.
func ProveToolchain(ctx context.Context, tool *gotool.Tool, sums []string) error {
	system := runtime.GOOS + "-" + runtime.GOARCH
	i := slices.IndexFunc(sums, func(s string) bool { return strings.HasPrefix(s, system+" ") })
	if i < 0 {
		return nil
	}
	want := strings.TrimPrefix(sums[i], system+" ")
	command, err := tool.Once(want, func() (string, error) { return proven(ctx, tool, system, want) })
	tool.GoCommand = command
	return err
}

func proven(ctx context.Context, tool *gotool.Tool, system, want string) (command string, err error) {
	version := toolchainVersion(tool, system)
	root, err := tool.Root(ctx)
	if err != nil {
		return "", err
	}
	prefix := toolchainModule + "@" + version
	own, err := gotool.HashRoot(root, prefix, false)
	if own == want || err != nil {
		return "", err // the go on PATH runs it
	}
	m, err := Download(ctx, tool, toolchainModule, version)
	if err != nil {
		return "", &fault.Error{Where: root, Err: err, Excerpt: err.Error(),
			What: fmt.Sprintf("the Go of this machine isn't %s as it was published (%s, the lock has %s), and that can't be downloaded", tool.Toolchain, own, want),
			Fix:  "install Go from https://go.dev/dl, or let GOPROXY serve " + toolchainModule}
	}
	if got, err := gotool.HashRoot(m.Dir, prefix, false); err != nil || got != want {
		return "", errors.Join(err, &fault.Error{Where: m.Dir, What: fmt.Sprintf("toolchain %s isn't the locked one: it is %s, the lock has %s", tool.Toolchain, got, want),
			Fix: "go clean -modcache, and compare with another proxy (GOPROXY=https://proxy.golang.org)"})
	}
	// A module's files are no programs until go makes them so, the first time that it
	// runs the toolchain itself (cmd/go/internal/toolchain).
	for _, pattern := range []string{"bin/*", "pkg/tool/*/*"} {
		programs, _ := filepath.Glob(filepath.Join(m.Dir, pattern)) // the patterns are right
		for _, p := range programs {
			if err := os.Chmod(p, 0o555); err != nil {
				return "", err
			}
		}
	}
	return filepath.Join(m.Dir, "bin", "go"), nil
}

// database asks the checksum database as the go command does: through a proxy that
// offers it, else itself. What it says is proved by its signature.
type database struct {
	ctx       context.Context //nolint:containedctx // sumdb's interface takes none
	missing   bool            // an address answered that it doesn't have it: Lookup hides the cause
	name, key string
	addresses []string
	tiles     map[string][]byte
	latest    []byte
}

func newDatabase(ctx context.Context, tool *gotool.Tool) *database {
	fields := strings.Fields(tool.Setting("GOSUMDB"))
	if len(fields) == 0 || fields[0] == "off" || module.MatchPrefixPatterns(tool.Setting("GONOSUMDB"), toolchainModule) {
		return nil
	}
	d := &database{ctx: ctx, key: fields[0], tiles: map[string][]byte{}}
	d.name, _, _ = strings.Cut(d.key, "+")
	self := "https://" + d.name
	switch d.key {
	case "sum.golang.org", "sum.golang.google.cn": // the second is the first's other address
		d.name, d.key = "sum.golang.org", publicKey
	}
	if len(fields) > 1 {
		self = fields[1]
	}
	for proxy := range strings.FieldsFuncSeq(tool.Setting("GOPROXY"), func(r rune) bool { return r == ',' || r == '|' }) {
		if strings.HasPrefix(proxy, "http") {
			d.addresses = append(d.addresses, strings.TrimSuffix(proxy, "/")+"/sumdb/"+d.name)
		}
	}
	d.addresses = append(d.addresses, self)
	return d
}

// ReadRemote reads a path of the database.
func (d *database) ReadRemote(path string) ([]byte, error) {
	var errs []error
	for _, address := range d.addresses {
		data, err := d.get(address + path)
		if err == nil {
			d.missing = false
			return data, nil
		}
		errs = append(errs, err)
		d.missing = d.missing || errors.Is(err, fs.ErrNotExist)
	}
	return nil, errors.Join(errs...)
}

func (d *database) get(address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(d.ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		return nil, fs.ErrNotExist
	default:
		return nil, fmt.Errorf("%s: %s", request.URL.Redacted(), response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, 1<<20)) // as the go command limits it
}

// ReadConfig knows the key, and the newest tree that was seen.
func (d *database) ReadConfig(file string) ([]byte, error) {
	if file == "key" {
		return []byte(d.key), nil
	}
	return d.latest, nil
}

// WriteConfig keeps the newest tree.
func (d *database) WriteConfig(_ string, _, latest []byte) error { d.latest = latest; return nil }

// ReadCache, WriteCache keep what was read for one run.
func (d *database) ReadCache(file string) ([]byte, error) {
	if data, ok := d.tiles[file]; ok {
		return data, nil
	}
	return nil, os.ErrNotExist
}

func (d *database) WriteCache(file string, data []byte) { d.tiles[file] = data }

// Log and SecurityError say nothing: the error of Lookup has it.
func (d *database) Log(string)           {}
func (d *database) SecurityError(string) {}
