//go:generate go tool packer-sdc mapstructure-to-hcl2 -type Config

package node

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/packer-plugin-sdk/common"
	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"
	"github.com/hashicorp/packer-plugin-sdk/template/config"
	"github.com/hashicorp/packer-plugin-sdk/template/interpolate"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/imagecheck"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/packer/plugin/internal/image"
)

// Config is what a template says of the step.
type Config struct {
	common.PackerConfig `mapstructure:",squash"`
	image.Options       `mapstructure:",squash"`

	// `image` checks the image that is being made, as the last step before
	// sysprep, and installs nothing: `verify.exe node check --image`. No
	// payload is needed, only a verify.exe.
	Kind string `mapstructure:"check"`
	// Findings of the check that don't end the build: `ID`, or `ID=object`
	// for one object alone, such as `WIN004=service csi-proxy`. They stay in
	// the manifest.
	Accept []string `mapstructure:"accept"`
	// The small verify.exe that runs on the machine. Default: the payload
	// image's, else the one beside this plugin.
	VerifyBinary string `mapstructure:"verify_binary"`
	// Where the manifest is written on this machine. Default: the source's
	// name and `.node.json`, in the folder that Packer runs in.
	Manifest string `mapstructure:"manifest"`
	// Change nothing and upload no file of the payload: only check the
	// machine, at the end of a build, say. Default `false`.
	CheckOnly bool `mapstructure:"check_only"`
	// How long a service's process may take to end. Default `20s`.
	StopTimeout time.Duration `mapstructure:"stop_timeout"`
	// How long a service's pipes may take to answer. Default `60s`.
	StartTimeout time.Duration `mapstructure:"start_timeout"`

	ctx interpolate.Context
}

// ConfigSpec is packersdk.Provisioner's.
func (p *Provisioner) ConfigSpec() hcldec.ObjectSpec { return p.config.FlatMapstructure().HCL2Spec() }

// Prepare is packersdk.Provisioner's. It opens neither the image nor the
// machine: `packer validate` runs it too.
func (p *Provisioner) Prepare(raws ...any) error {
	c := &p.config
	err := config.Decode(c, &config.DecodeOpts{PluginType: "winbake-node", Interpolate: true, InterpolateContext: &c.ctx}, raws...)
	if err != nil {
		return err
	}
	c.defaults()
	var wrong *packersdk.MultiError
	if err := c.checkOptions(); err != nil {
		wrong = packersdk.MultiErrorAppend(wrong, err)
	}
	for _, a := range c.Accept {
		if err := known(a, c.ids()); err != nil {
			wrong = packersdk.MultiErrorAppend(wrong, err)
		}
	}
	if c.VerifyBinary != "" {
		if info, err := os.Stat(c.VerifyBinary); err != nil || info.IsDir() {
			wrong = packersdk.MultiErrorAppend(wrong, &fault.Error{Where: c.VerifyBinary, What: "verify_binary isn't a file", Fix: "name the file that bake verify-exe --out verify.exe writes"})
		}
	}
	if wrong != nil && len(wrong.Errors) > 0 {
		return wrong
	}
	return nil
}

func (c *Config) defaults() {
	c.Profile = cmp.Or(c.Profile, imagecheck.OpenShift)
	c.Manifest = cmp.Or(c.Manifest, c.PackerBuildName+".node.json")
	c.StopTimeout = cmp.Or(c.StopTimeout, agent.DefaultStop)
	c.StartTimeout = cmp.Or(c.StartTimeout, agent.DefaultStart)
}

// kindImage is the one value of check.
const kindImage = "image"

func (c *Config) checkOptions() error {
	switch c.Kind {
	case "":
		return c.Check()
	case kindImage:
		return c.CheckGiven()
	}
	return &fault.Error{What: fmt.Sprintf("check can't be %q", c.Kind), Fix: `check = "image", or leave it out to install a payload`}
}

// ids are what findings of the step may be called.
func (c *Config) ids() []string {
	var all []string
	if c.Kind == kindImage {
		for _, r := range imagecheck.Table {
			all = append(all, r.ID)
		}
		return all
	}
	for _, r := range node.Rules {
		all = append(all, r.ID)
	}
	return all
}

// known refuses an accepted ID that no check has: the finding that it was
// meant for would end the build after an hour.
func known(accept string, ids []string) error {
	id, _, _ := strings.Cut(accept, "=")
	if slices.Contains(ids, id) {
		return nil
	}
	return &fault.Error{What: fmt.Sprintf("accept has %q, and no check has that ID", accept), Fix: fmt.Sprintf("give IDs from %s to %s", ids[0], ids[len(ids)-1])}
}
