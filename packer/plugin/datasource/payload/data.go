//go:generate go tool packer-sdc mapstructure-to-hcl2 -type Config,Output,File,Service

// Package payload is the data source winbake-payload: it opens a payload image
// before anything is built, checks it, and says what is in it.
package payload

import (
	"cmp"
	"context"

	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/packer-plugin-sdk/common"
	"github.com/hashicorp/packer-plugin-sdk/hcl2helper"
	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"
	"github.com/hashicorp/packer-plugin-sdk/template/config"
	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/windows/imagecheck"
	"github.com/winbake/winbake/packer/plugin/internal/image"
)

// Config is what a template says of the payload.
type Config struct {
	common.PackerConfig `mapstructure:",squash"`
	image.Options       `mapstructure:",squash"`

	// Write the files into a folder too, for Packer's HTTP server. Default
	// `false`.
	Unpack bool `mapstructure:"unpack"`
}

// Output is what the data source says.
type Output struct {
	// The image's digest; empty for a folder.
	Digest string `mapstructure:"digest"`
	// The image as the provisioner takes it: by digest where it is in a
	// registry.
	Reference string `mapstructure:"reference"`
	// The OpenShift release that the payload is for; empty where it doesn't
	// say.
	Release string `mapstructure:"release"`
	// The files that go onto a node.
	Files []File `mapstructure:"files"`
	// The services of the profile.
	Services []Service `mapstructure:"services"`
	// The folder that `unpack` wrote; empty without it.
	Directory string `mapstructure:"directory"`
}

// File is a file of the payload that has a place on the node.
type File struct {
	// The component that brings it.
	Component string `mapstructure:"component"`
	// Its place on the node: `C:\k\csi-proxy.exe`.
	Path string `mapstructure:"path"`
	// Its place below `/payload`.
	Payload string `mapstructure:"payload"`
	// Its sum on the node.
	SHA256 string `mapstructure:"sha256"`
	// Its size on the node, in bytes.
	Size int64 `mapstructure:"size"`
	// The version that is stamped into it; empty where none is known.
	Version string `mapstructure:"version"`
}

// Service is a Windows service of the payload.
type Service struct {
	// The service manager's name.
	Name string `mapstructure:"name"`
	// The command line.
	Command string `mapstructure:"command"`
	// When Windows starts it: `automatic`, `manual`.
	Start string `mapstructure:"start"`
	// The named pipes that it serves.
	Pipes []string `mapstructure:"pipes"`
}

// Datasource is winbake-payload.
type Datasource struct{ config Config }

var _ packersdk.Datasource = (*Datasource)(nil)

// ConfigSpec is packersdk.Datasource's.
func (d *Datasource) ConfigSpec() hcldec.ObjectSpec { return d.config.FlatMapstructure().HCL2Spec() }

// OutputSpec is packersdk.Datasource's.
func (d *Datasource) OutputSpec() hcldec.ObjectSpec {
	return (&Output{}).FlatMapstructure().HCL2Spec()
}

// Configure is packersdk.Datasource's.
func (d *Datasource) Configure(raws ...any) error {
	if err := config.Decode(&d.config, nil, raws...); err != nil {
		return err
	}
	d.config.Profile = cmp.Or(d.config.Profile, imagecheck.OpenShift)
	return d.config.Check()
}

// Execute is packersdk.Datasource's.
func (d *Datasource) Execute() (cty.Value, error) {
	out, err := d.read(context.Background()) // Packer hands none over
	if err != nil {
		return cty.NullVal(cty.EmptyObject), err
	}
	return hcl2helper.HCL2ValueFromConfig(*out, d.OutputSpec()), nil
}

func (d *Datasource) read(ctx context.Context) (*Output, error) {
	im, err := image.Open(ctx, d.config.Options)
	if err != nil {
		return nil, err
	}
	defer im.Close() //nolint:errcheck // only read
	if err := im.Check(ctx); err != nil {
		return nil, err
	}
	out := &Output{Digest: im.Digest, Reference: d.config.Payload, Release: im.Release}
	for _, f := range im.Expectation.Files {
		out.Files = append(out.Files, File{Component: f.Component, Path: f.Path, Payload: f.Payload, SHA256: f.SHA256, Size: f.Size, Version: f.Version})
	}
	for _, s := range im.Expectation.Services {
		out.Services = append(out.Services, Service{Name: s.Name, Command: s.Command(), Start: string(s.Start), Pipes: s.Pipes})
	}
	if d.config.Unpack {
		out.Directory, err = im.Unpack(ctx)
	}
	return out, err
}
