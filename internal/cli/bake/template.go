package bake

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/packer/template"
)

// templateOptions are the flags of `bake template`.
type templateOptions struct {
	out, payload, profile, windows, release string

	varFiles  []string
	registry  app.Registry
	firstBoot bool
}

// noPayload is what --payload takes for an image without node files.
const noPayload = "none"

func newTemplate(t *tool) *cobra.Command {
	var o templateOptions
	var platforms []string
	for _, p := range template.Platforms() {
		platforms = append(platforms, p.Name)
	}
	cmd := &cobra.Command{
		Use:   "template PLATFORM",
		Short: "Write a Packer template for a golden image",
		Long: `template writes a folder that packer build makes a Windows Server image from:
HCL, answer files, scripts and a README with what to run. bake template list
shows the platforms.

--payload is where the node's files come from: an image by digest, or an OCI
layout or tarball, of ours or the Windows Machine Config Operator's. Left out,
whoever builds says it; none makes an image without node files, which the
operator brings. With --var-file the values are checked here and now, and those
that aren't secret are put into the folder.

A folder is written again only where nothing that bake template wrote was
changed; other files in it, values say, are kept.`,
		Example: `  bake template vsphere-iso --out image --payload _output/image
  bake template vsphere-clone --out image --payload quay.io/me/payload@sha256:... --var-file prod.pkrvars.hcl
  bake template qemu --out image --profile generic --windows 2025
  bake template vsphere-iso --out image --payload _output/image --first-boot-check
  bake template list`,
		Args:      app.Args(cobra.ExactArgs(1)),
		ValidArgs: platforms,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.template(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.out, "out", "", "the folder to write")
	f.StringVar(&o.payload, "payload", "", "image by digest, OCI layout or tarball with the node's files; or none")
	f.StringVar(&o.profile, "profile", string(template.OpenShift), "openshift or generic")
	f.StringVar(&o.windows, "windows", template.Windows2022, "2022 or 2025")
	f.StringVar(&o.release, "release", "", "OpenShift release that the payload must be for, such as 4.20")
	f.StringArrayVar(&o.varFiles, "var-file", nil, "values to check and to put into the folder, as for packer; may be repeated")
	f.BoolVar(&o.firstBoot, "first-boot-check", false, "have each clone check itself when it starts for the first time")
	o.registry.Register(f, "the payload's registry")
	app.Choices(cmd, "profile", string(template.OpenShift), string(template.Generic))
	app.Choices(cmd, "windows", template.Releases()...)
	cmd.AddCommand(newTemplateList(t))
	return cmd
}

func (t *tool) template(ctx context.Context, platform string, o templateOptions) error {
	began := time.Now()
	if _, err := template.Find(platform); err != nil {
		return err
	}
	if o.out == "" {
		return &fault.Error{What: "no folder to write", Fix: "bake template " + platform + " --out image"}
	}
	options := template.Options{
		Platform: platform, Profile: template.Profile(o.profile), Windows: o.windows, Release: o.release, WithoutPayload: o.payload == noPayload,
		FirstBootCheck: o.firstBoot,
	}
	var err error
	if o.payload != "" && o.payload != noPayload {
		if options.Payload, err = t.findPayload(ctx, o); err != nil {
			return err
		}
	}
	if len(o.varFiles) > 0 {
		if options.Values, err = template.ReadValues(o.varFiles...); err != nil {
			return err
		}
	}
	folder, err := template.Render(options)
	if err != nil {
		return err
	}
	if err := template.Write(ctx, o.out, folder); err != nil {
		return err
	}
	t.Console.Emit(event.Event{Object: o.out, Phase: event.Write, State: event.Done,
		Message: fmt.Sprintf("%d files in %s; its README.md says what to run", len(folder.Files), time.Since(began).Round(time.Millisecond))})
	return nil
}
