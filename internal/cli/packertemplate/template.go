// Package packertemplate is the command `bake template`.
package packertemplate

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/packer/template"
	"github.com/winbake/winbake/payload"
)

type templateOptions struct {
	template.Options
	payload         string
	varFiles, extra []string
	registry        app.Registry
	skeleton        bool
	output          app.Output
}

type tool struct {
	*app.App
}

// noPayload is what --payload takes for an image without node files.
const noPayload = "none"

// New returns the command.
func New(a *app.App) *cobra.Command {
	t := &tool{a}
	o := templateOptions{output: app.NewOutput("Place", app.Place{})}
	cmd := &cobra.Command{
		Use:       "template PLATFORM",
		Args:      cobra.ExactArgs(1),
		ValidArgs: template.PlatformNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Platform = args[0]
			return t.template(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	app.OutFolder(f, &o.Dir)
	f.StringVar(&o.payload, "payload", "", "none, or an image by digest, an OCI layout or a tarball with the node's files")
	f.StringVar((*string)(&o.Profile), "profile", string(template.OpenShift), "openshift or generic")
	f.StringVar(&o.Windows, "windows", template.Windows2022, "2022 or 2025")
	f.StringVar(&o.Release, "release", "", "OpenShift release that the payload must be for, such as 4.20")
	f.StringArrayVar(&o.varFiles, "var-file", nil, "values to check and to put into the folder, as for packer; may be repeated")
	f.BoolVar(&o.CloudbaseInit, "cloudbase-init", false, "have cloudbase-init name clones and run their user data, for Cluster API; profile generic")
	f.StringArrayVar(&o.extra, "extra-script", nil, "a step of your own, PATH or one of before-updates=, after-updates= and last= with it; may be repeated")
	f.BoolVar(&o.skeleton, "skeleton", false, "print a var-file to fill in, and write nothing")
	o.registry.Register(f, "the payload's registry")
	o.output.Register(cmd)
	app.Choices(cmd, "profile", string(template.OpenShift), string(template.Generic))
	app.Choices(cmd, "windows", template.Releases()...)
	cmd.AddCommand(newTemplateList(t))
	return cmd
}

func (t *tool) template(ctx context.Context, o templateOptions) error {
	if _, err := template.Find(o.Platform); err != nil {
		return err
	}
	if o.Dir == "" && !o.skeleton {
		return &fault.Error{What: "no folder to write", Fix: "bake template " + o.Platform + " --out image"}
	}
	folder, err := t.renderTemplate(ctx, o)
	if err != nil {
		return err
	}
	if o.skeleton {
		_, err := t.Stdout.Write(folder.Skeleton())
		return err
	}
	if err := template.Write(ctx, o.Dir, folder); err != nil {
		return err
	}
	t.Tell(o.Dir, event.Write, event.Done, inventory.Many(len(folder.Files), "file")+"; README.md says what to run")
	if o.Windows == template.Windows2022 {
		// https://learn.microsoft.com/en-us/lifecycle/products/windows-server-2022
		t.Tell(o.Dir, event.Write, event.Note, "mainstream support of Windows Server 2022 ended on 2026-10-13, security updates come until 2031-10-14; WMCO takes 2025 from OpenShift 4.22 on: --windows 2025")
	}
	if o.output.String() == "json" {
		return o.output.JSON(t.Stdout, app.Place{Path: o.Dir})
	}
	return nil
}

func (t *tool) renderTemplate(ctx context.Context, o templateOptions) (_ *template.Folder, err error) {
	o.WithoutPayload = o.payload == noPayload
	if o.Payload, err = t.findPayload(ctx, o); err != nil {
		return nil, err
	}
	if o.ExtraScripts, err = template.ReadExtraScripts(o.extra...); err != nil {
		return nil, err
	}
	if o.Values, err = template.ReadValues(o.varFiles...); err != nil {
		return nil, err
	}
	return template.Render(o.Options)
}

// platformRow is one platform as `bake template list` shows it.
type platformRow struct {
	Platform string `json:"platform"`
	Title    string `json:"title"`
	Plugin   string `json:"plugin"`
	Versions string `json:"versions"`
	Tested   string `json:"tested"`
}

func newTemplateList(t *tool) *cobra.Command {
	list := func(context.Context, []string) (rows []platformRow, err error) {
		for _, p := range template.Platforms() {
			rows = append(rows, platformRow{p.Name, p.Title, p.Plugin.Source, p.Plugin.Constraint, p.Tested})
		}
		return rows, nil
	}
	return app.Answer(t.App, "PlatformList", &cobra.Command{Use: "list"}, list, func(rows []platformRow) [][]string {
		return app.Table("PLATFORM WHAT PLUGIN VERSIONS TESTED", rows, func(r platformRow) []string {
			return []string{r.Platform, r.Title, r.Plugin, r.Versions, r.Tested}
		})
	})
}

// findPayload opens the payload, so that a tag, an absent image or one of
// another release is an error now and not after an hour of building.
func (t *tool) findPayload(ctx context.Context, o templateOptions) (template.Payload, error) {
	if o.payload == "" || o.payload == noPayload {
		return template.Payload{}, nil
	}
	source, err := oci.Load(ctx, o.payload, o.registry.Options(t.App))
	if err != nil {
		return template.Payload{}, err
	}
	defer source.Close() //nolint:errcheck // it was only read
	switch {
	case source.Kind == oci.KindDir:
		return template.Payload{}, &fault.Error{Where: o.payload, What: "a folder of files has no digest that a build could be held to", Fix: "bake payload --layout DIR, and give that layout"}
	case source.Kind == oci.KindRegistry && !strings.Contains(o.payload, "@sha256:"):
		return template.Payload{}, &fault.Error{Where: o.payload, What: "a tag may be another image tomorrow", Fix: "--payload " + shell.Word(source.Reference())}
	}
	if err := t.checkRelease(o, source); err != nil {
		return template.Payload{}, err
	}
	reference := source.Ref
	if source.Kind == oci.KindRegistry {
		reference = source.Reference()
	}
	return template.Payload{Reference: reference, Digest: source.Digest.String()}, nil
}

func (t *tool) checkRelease(o templateOptions, source *oci.Source) error {
	if o.Release == "" {
		return nil
	}
	images, err := source.Images()
	if err != nil {
		return err
	}
	for _, i := range images {
		config, err := i.Image.ConfigFile()
		if err != nil {
			return fmt.Errorf("read the payload's configuration: %w", err)
		}
		release := payload.ReleaseOf(config.Config.Labels)
		switch {
		case release == "":
			t.Tell(o.payload, event.Check, event.Warning, "the payload doesn't say which OpenShift release it is for, so nothing holds it to "+o.Release)
		case release != o.Release:
			return &fault.Error{Where: o.payload, What: fmt.Sprintf("the payload is for OpenShift %s, and --release is %s", release, o.Release),
				Fix: "give the payload of " + o.Release + ", or --release " + release}
		}
	}
	return nil
}
