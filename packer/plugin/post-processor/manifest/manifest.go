//go:generate go tool packer-sdc mapstructure-to-hcl2 -type Config

// Package manifest is the post-processor winbake-manifest: it binds what was
// found on the machine to what came of the build.
package manifest

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/packer-plugin-sdk/common"
	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"
	"github.com/hashicorp/packer-plugin-sdk/template/config"
	"github.com/hashicorp/packer-plugin-sdk/template/interpolate"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/packer/plugin/internal/record"
)

// Config is what a template says of the step.
type Config struct {
	common.PackerConfig `mapstructure:",squash"`

	// The manifest that the provisioner `winbake-node` wrote on this machine.
	// Default: the source's name and `.node.json`, as the provisioner's.
	Manifest string `mapstructure:"manifest"`
	// Where the result is written. Default: the source's name and
	// `.winbake.json`.
	Output string `mapstructure:"output"`

	ctx interpolate.Context
}

// PostProcessor is winbake-manifest.
type PostProcessor struct{ config Config }

var _ packersdk.PostProcessor = (*PostProcessor)(nil)

// ConfigSpec is packersdk.PostProcessor's.
func (p *PostProcessor) ConfigSpec() hcldec.ObjectSpec {
	return p.config.FlatMapstructure().HCL2Spec()
}

// Configure is packersdk.PostProcessor's.
func (p *PostProcessor) Configure(raws ...any) error {
	c := &p.config
	err := config.Decode(c, &config.DecodeOpts{PluginType: "winbake-manifest", Interpolate: true, InterpolateContext: &c.ctx}, raws...)
	if err != nil {
		return err
	}
	c.Manifest = cmp.Or(c.Manifest, c.PackerBuildName+".node.json")
	c.Output = cmp.Or(c.Output, c.PackerBuildName+".winbake.json")
	if c.Manifest == c.Output {
		return &fault.Error{Where: c.Output, What: "output is the manifest itself", Fix: "name another file in output"}
	}
	return nil
}

// PostProcess is packersdk.PostProcessor's. The artifact stays what it is.
func (p *PostProcessor) PostProcess(ctx context.Context, ui packersdk.Ui, a packersdk.Artifact) (packersdk.Artifact, bool, bool, error) {
	m, err := p.manifest()
	if err != nil {
		return nil, true, true, err
	}
	artifact := record.Artifact{Builder: a.BuilderId(), ID: a.Id(), Description: a.String(), Files: []record.LocalFile{}}
	for _, name := range a.Files() {
		if err := ctx.Err(); err != nil {
			return nil, true, true, err
		}
		f, err := record.Sum(name)
		if err != nil {
			return nil, true, true, fmt.Errorf("hash the artifact's file: %w", err)
		}
		artifact.Files = append(artifact.Files, f)
	}
	data, err := record.Encode(record.Bind(m, artifact))
	if err != nil {
		return nil, true, true, err
	}
	if err := record.Write(p.config.Output, data); err != nil {
		return nil, true, true, err
	}
	ui.Say("content " + m.Digest + " of " + a.Id() + " in " + p.config.Output)
	return a, true, true, nil
}

// manifest reads the provisioner's, and refuses one of another build: it says
// nothing of this image.
func (p *PostProcessor) manifest() (*record.Manifest, error) {
	name := p.config.Manifest
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, &fault.Error{Where: name, What: "there is no manifest: " + err.Error(), Fix: `put a provisioner "winbake-node" with manifest = "` + name + `" into the build`, Err: err}
	}
	m, err := record.Parse(data, name)
	if err != nil {
		return nil, err
	}
	if run := os.Getenv("PACKER_RUN_UUID"); m.Build.Run != run || m.Build.Name != p.config.PackerBuildName {
		return nil, &fault.Error{Where: name, What: fmt.Sprintf("the manifest is of another build: source %s, run %s", m.Build.Name, m.Build.Run),
			Fix: "give each source a manifest of its own, and run winbake-node in each build"}
	}
	return m, nil
}
