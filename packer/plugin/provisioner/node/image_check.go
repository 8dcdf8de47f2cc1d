package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/windows/deploy"
	"github.com/winbake/winbake/packer/plugin/internal/image"
)

// checkImage has verify.exe check the image before sysprep. Its report, in JSON, goes
// to the build's log; what is wrong ends the build.
func (p *Provisioner) checkImage(ctx context.Context, ui packersdk.Ui, g deploy.Guest) error {
	exe, err := p.verifyExe(ctx)
	if err != nil {
		return err
	}
	n := &deploy.Node{Guest: g, Exe: exe, Say: ui.Say}
	text, err := n.CheckImage(ctx, p.config.Profile)
	if err = errors.Join(err, n.Clean(ctx)); err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		ui.Say(strings.TrimRight(line, "\r\n"))
	}
	var d report.Document
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("read the report of verify.exe: %w", err)
	}
	return failure(finding.Accept(d.Findings, p.config.Accept), "this can't be a node's image", "do what remedy says in the report above, or add an ID to accept = [...] if you know why it is so")
}

// verifyExe is the one that is named, or else the payload's, or the plugin's.
func (p *Provisioner) verifyExe(ctx context.Context) ([]byte, error) {
	if p.config.VerifyBinary != "" || p.config.Payload == "" {
		none := &image.Image{Image: &deploy.Image{}}
		return none.VerifyExe(p.config.VerifyBinary)
	}
	im, err := image.Open(ctx, p.config.Options)
	if err != nil {
		return nil, err
	}
	defer im.Close() //nolint:errcheck // only read
	return im.VerifyExe("")
}
