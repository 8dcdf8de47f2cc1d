package winenode

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Path is where a file of the node is on the host, whether it's there or not.
// It takes C:\a\b, C:/a/b and SFTP's /C:/a/b; letters' case doesn't matter.
func (n *Node) Path(windows string) (string, error) {
	parts, err := split(windows)
	if err != nil {
		return "", err
	}
	path := n.C()
	for _, part := range parts {
		path = filepath.Join(path, spelling(path, part))
	}
	return path, nil
}

// split takes a path on C: to pieces.
func split(windows string) ([]string, error) {
	p := strings.TrimLeft(strings.ReplaceAll(windows, `\`, "/"), "/")
	drive, rest, ok := strings.Cut(p, ":")
	if !ok || !strings.EqualFold(drive, "C") {
		return nil, fmt.Errorf("%s: %w: the node has C: alone", windows, fs.ErrNotExist)
	}
	parts := slices.DeleteFunc(strings.Split(rest, "/"), func(s string) bool { return s == "" || s == "." })
	for _, part := range parts {
		if part == ".." || strings.ContainsAny(part, `<>:"|?*`) {
			return nil, fmt.Errorf("%s: %w", windows, fs.ErrInvalid)
		}
	}
	return parts, nil
}

// spelling is how dir spells a name, or the name itself.
func spelling(dir, name string) string {
	if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
		return name
	}
	entries, _ := os.ReadDir(dir) // none: nothing there is spelled otherwise
	for _, e := range entries {
		if strings.EqualFold(e.Name(), name) {
			return e.Name()
		}
	}
	return name
}

// below says whether a path is a folder or in it, as Windows compares names.
func below(windows, folder string) bool {
	p, err := split(windows)
	if err != nil {
		return false
	}
	f, err := split(folder)
	return err == nil && len(p) >= len(f) && slices.EqualFunc(p[:len(f)], f, strings.EqualFold)
}
