//go:build e2e

package readers

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// listing is what a tool shows of an image: each file with its sha256, each
// folder with a slash after its name and no sum.
type listing map[string]string

func (l listing) names() []string { return slices.Sorted(maps.Keys(l)) }

// list prints the listing of the folder that a script is in.
const list = `
find . -mindepth 1 -type d -printf '-  %p/\n' -o -type f -exec sha256sum {} + -o -printf 'neither file nor folder: %p\n'`

// folder runs a script that ends in list. within is a command to run it in.
func folder(ctx context.Context, within []string, script string, args ...string) (listing, error) {
	out, err := sh(ctx, within, script+list, args...)
	if err != nil {
		return nil, err
	}
	l := listing{}
	for line := range strings.Lines(out) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ./")
		if !ok {
			return nil, fmt.Errorf("a list with the line %q", line)
		}
		l[name] = strings.TrimPrefix(sum, "-")
	}
	return l, nil
}

func sh(ctx context.Context, within []string, script string, args ...string) (string, error) {
	args = slices.Concat(within, []string{"sh", "-euc", script, "sh"}, args)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", script, err, log.String())
	}
	return string(out), err
}

// unpacked lists a tar of a whole file system.
func unpacked(r io.Reader) (listing, error) {
	l := listing{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(path.Clean("/"+h.Name), "/")
		switch h.Typeflag {
		case tar.TypeDir:
			l[name+"/"] = ""
		case tar.TypeReg:
			sum := sha256.New()
			if _, err := io.Copy(sum, tr); err != nil {
				return nil, err
			}
			l[name] = fmt.Sprintf("%x", sum.Sum(nil))
		default:
			return nil, fmt.Errorf("%s is neither file nor folder: %q", name, h.Typeflag)
		}
	}
}
