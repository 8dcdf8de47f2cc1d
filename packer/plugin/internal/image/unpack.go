package image

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"

	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/node/agent"
	"github.com/winbake/winbake/internal/node/deploy"
	"github.com/winbake/winbake/packer/plugin/internal/record"
)

// Unpack writes what a machine fetches into a folder of Packer's cache, under
// the names that it has on the machine: the files, compressed, and verify.exe
// where the image brings one. It returns the folder.
func (im *Image) Unpack(ctx context.Context) (string, error) {
	dir, err := packersdk.CachePath("winbake", strings.TrimPrefix(im.Digest, "sha256:"))
	if err != nil {
		return "", fmt.Errorf("find Packer's cache: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a folder for the payload's files: %w", err)
	}
	if im.Verify != nil {
		if err := record.Write(filepath.Join(dir, deploy.ExeName(im.Verify)), im.Verify); err != nil {
			return "", err
		}
	}
	temp, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the payload's files: %w", err)
	}
	defer os.RemoveAll(temp)
	return dir, im.Pack(ctx, temp, im.Expectation.Files, func(f node.File, packed string) error {
		return os.Rename(packed, filepath.Join(dir, f.SHA256+agent.StagedSuffix))
	})
}
