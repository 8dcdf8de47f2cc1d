package gomod

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/semver"

	"github.com/winbake/winbake/internal/gotool"
)

// Versions asks the module proxy for every version of a module that wasn't
// retracted, oldest first. A proxy may serve versions and refuse the list.
func Versions(ctx context.Context, tool *gotool.Tool, path, current string) ([]string, error) {
	dir, err := os.MkdirTemp("", "winbake-versions-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to ask from: %w", err)
	}
	defer os.RemoveAll(dir)
	out, err := tool.Output(ctx, dir, gotool.Target(""), "list", "-m", "-versions", "-json", path+"@"+current)
	if err != nil {
		return nil, err
	}
	var m struct{ Versions []string }
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("read go list's answer: %w", err)
	}
	return m.Versions, nil
}

// Newer picks, out of versions, the newest patch of current's minor and the
// newest of all; "" where there is none. Pre-releases count only for whoever
// has pinned one.
func Newer(current string, versions []string) (patch, latest string) {
	for _, v := range versions {
		if !semver.IsValid(v) || semver.Compare(v, current) <= 0 {
			continue
		}
		if semver.Prerelease(v) != "" && semver.Prerelease(current) == "" {
			continue
		}
		if semver.MajorMinor(v) == semver.MajorMinor(current) && semver.Compare(v, patch) > 0 {
			patch = v
		}
		if semver.Compare(v, latest) > 0 {
			latest = v
		}
	}
	return patch, latest
}
