package verify

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/version"
)

// imageVersions reads --image-version: IMAGE=vX.Y.Z, or a file of such lines.
func imageVersions(list []string) (map[string]string, error) {
	images := map[string]string{}
	for _, s := range list {
		if !strings.Contains(s, "=") {
			if err := imageVersionFile(images, s); err != nil {
				return nil, err
			}
			continue
		}
		if err := imageVersion(images, s, "--image-version"); err != nil {
			return nil, err
		}
	}
	return images, nil
}

// imageVersion takes one IMAGE=vX.Y.Z that stands at where.
func imageVersion(images map[string]string, s, where string) error {
	i := strings.LastIndex(s, "=")
	if i <= 0 || i == len(s)-1 {
		return &fault.Error{What: fmt.Sprintf("%q isn't DIGEST_OR_IMAGE=vX.Y.Z", s), Where: where, Fix: "sha256:...=v1.33.3, or registry.example.com/mirror/driver=v1.33.3"}
	}
	image, tag := strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+1:])
	if _, err := version.ParseDriver(tag); err != nil {
		return &fault.Error{What: fmt.Sprintf("%s: %v", image, err), Where: where, Fix: image + "=vX.Y.Z, the driver's upstream version", Err: err}
	}
	images[image] = tag
	return nil
}

// imageVersionFile reads a line each; # starts a comment.
func imageVersionFile(images map[string]string, path string) error {
	data, err := infile.Read(path, infile.Text)
	if err != nil {
		return &fault.Error{
			What: fmt.Sprintf("%q is neither DIGEST_OR_IMAGE=vX.Y.Z nor a file of such lines", path), Where: "--image-version",
			Fix: "--image-version sha256:...=v1.33.3", Err: err,
		}
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := imageVersion(images, line, fmt.Sprintf("%s:%d", path, n)); err != nil {
			return err
		}
	}
	return lines.Err()
}
