package bake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/build/compile"
	"github.com/winbake/winbake/internal/build/driver"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/resolve"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/release"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/internal/image/oci"
)

type driverOptions struct {
	buildOptions
	release, payload, mode, layout, push string
	cloud                                string
	windows, bases                       []string
	all, diff, pins, layoutSet           bool
	file                                 bool // --file was given
	registry                             app.Registry
	catalog                              catalogflag.Flag
	output                               app.Output
}

func newDriver(t *tool) *cobra.Command {
	o := driverOptions{output: app.Output{Kinds: map[string]any{"DriverImageList": []driverRow{}, "CarriedCommitList": []driver.Carried{}}}}
	cmd := &cobra.Command{
		Use:  "driver [NAME...]",
		Args: cobra.ArbitraryArgs, ValidArgsFunction: o.names,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file, o.layoutSet = cmd.Flags().Changed("file"), cmd.Flags().Changed("layout")
			return t.driver(cmd.Context(), args, &o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.release, "for", "", "OpenShift release, 4.20 or 4.20.6")
	f.BoolVar(&o.all, "all", false, "all drivers, and what runs beside them")
	f.StringVar(&o.cloud, "cloud", "", "with --all: only what a cluster on none, vsphere, aws, azure, gcp or nutanix needs")
	f.StringVar(&o.payload, "release-image", "", "the release's payload, which has the commits: an image, an OCI layout, or what oc adm release info --commits RELEASE wrote to a file")
	f.StringArrayVar(&o.bases, "base", nil, "Windows base image: a reference by digest, an OCI layout or a tarball; may be repeated")
	f.StringVar(&o.mode, "mode", string(csidriver.Auto), strings.Join(csidriver.Modes(), ", "))
	f.StringSliceVar(&o.windows, "windows", csidriver.WindowsVersions()[:1], "Windows Server of the nodes: "+strings.Join(csidriver.WindowsVersions(), ", "))
	f.StringVar(&o.layout, "layout", "_output/driver", "folder for an OCI layout by name; not with --push")
	f.StringVar(&o.push, "push", "", "registry to push to, HOST/FOLDER: the images become HOST/FOLDER/NAME:VERSION-COMMIT")
	f.BoolVar(&o.diff, "diff", false, "only list what the fork has beyond the upstream version")
	f.BoolVar(&o.pins, "pins", false, "only print the pins, as drivers: of versions.yaml")
	o.registry.Register(f, "registries")
	o.cacheRegistry = &o.registry
	o.buildOptions.register(cmd)
	o.catalog.Register(cmd)
	o.output.Register(cmd)
	app.Choices(cmd, "mode", csidriver.Modes()...)
	app.Choices(cmd, "cloud", "none", "vsphere", "aws", "azure", "gcp", "nutanix")
	app.Complete(cmd, "windows", cobra.FixedCompletions(csidriver.WindowsVersions(), cobra.ShellCompDirectiveNoFileComp))
	app.Complete(cmd, "for", o.catalog.Releases)
	return cmd
}

func (o *driverOptions) names(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cat, err := o.catalog.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return driver.Names(cat), cobra.ShellCompDirectiveNoFileComp
}

// driver is the pipeline: commits, programs, images.
func (t *tool) driver(ctx context.Context, names []string, o *driverOptions) error {
	cat, err := o.catalog.Load()
	if err != nil {
		return err
	}
	file, sources, err := t.driverSources(ctx, cat, names, o)
	if err != nil {
		return err
	}
	switch {
	case o.pins:
		return t.print(driver.PinsYAML(sources), nil)
	case o.diff:
		return t.driverDiff(ctx, sources, o)
	}
	if err := o.check(cat, sources); err != nil {
		return err
	}
	bases, err := driver.OpenBases(ctx, o.bases, o.registry.Options(t.App))
	if err != nil {
		return err
	}
	defer bases.Close()
	if err := t.plan(ctx, cat, sources, bases, o); err != nil {
		return err
	}
	for _, s := range sources {
		if s.Note != "" {
			t.warn(s.Build.Name, s.Note)
		}
	}
	rows, err := t.buildDrivers(ctx, file, sources, o)
	if err != nil {
		return err
	}
	return o.output.Write(t.Stdout, rows, func() [][]string {
		return app.Table("", rows, func(r driverRow) []string { return []string{r.Reference} })
	})
}

func (t *tool) driverSources(ctx context.Context, cat *catalog.Catalog, names []string, o *driverOptions) (*pins.File, []*driver.Source, error) {
	file := &pins.File{Go: driver.Toolchain, Path: t.file}
	if !o.pins { // those are for a file that may be half written
		switch given, err := pins.Load(t.file); {
		case err == nil:
			file = given
		case o.file || !errors.Is(err, fs.ErrNotExist):
			return nil, nil, err
		}
	}
	if o.release == "" {
		return nil, nil, &fault.Error{What: "no release to build for", Fix: "--for 4.20.6"}
	}
	wanted, err := version.ParseOpenShift(o.release)
	if err != nil {
		return nil, nil, &fault.Error{What: "--for: " + err.Error(), Fix: "--for 4.20", Err: err}
	}
	switch {
	case o.all && len(names) > 0:
		return nil, nil, &fault.Error{What: "--all and a name: " + names[0], Fix: "leave out one of them"}
	case o.cloud != "" && !o.all:
		return nil, nil, &fault.Error{What: "--cloud chooses among all drivers", Fix: "bake driver --all --cloud " + o.cloud}
	case o.all:
		names = slices.DeleteFunc(driver.Names(cat), func(name string) bool {
			d := cat.Driver(name)
			return o.cloud != "" && d != nil && d.Platform != "" && !strings.EqualFold(d.Platform, o.cloud)
		})
	case len(names) == 0:
		return nil, nil, &fault.Error{What: "no driver to build", Fix: "bake driver NAME, one of " + strings.Join(driver.Names(cat), ", ") + "; or --all"}
	}
	for _, c := range file.Drivers { // else the catalog's commit would be built, not the pinned one
		if err := driver.Known(cat, c.Name, t.file); err != nil {
			return nil, nil, err
		}
	}
	payload, err := t.driverPayload(ctx, wanted, o)
	if err != nil {
		return nil, nil, err
	}
	var sources []*driver.Source
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		pinned := slices.IndexFunc(file.Drivers, func(c pins.Component) bool { return c.Name == name })
		if b := cat.Build(name); pinned >= 0 && b != nil && payload == nil && file.Release == wanted.MinorString() {
			sources = append(sources, &driver.Source{Build: b, Pin: file.Drivers[pinned], Locked: true})
			continue
		}
		s, err := driver.Find(cat, name, wanted, payload)
		if err != nil && o.all && driver.Unshipped(cat, name, wanted) {
			t.warn(name, fmt.Sprintf("left out: the catalog knows none for OpenShift %s, and it is in no payload", wanted.MinorString()))
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, s)
	}
	return file, sources, nil
}

// driverPayload reads --release-image; nil without one.
func (t *tool) driverPayload(ctx context.Context, wanted version.OpenShift, o *driverOptions) (*inventory.Payload, error) {
	if o.payload == "" {
		return nil, nil
	}
	p, _, err := release.Read(ctx, o.payload, o.registry.Options(t.App))
	if err != nil {
		return nil, err
	}
	return &p, driver.CheckPayload(&p, wanted)
}

// check refuses what can't become an image, before anything is built.
func (o *driverOptions) check(cat *catalog.Catalog, sources []*driver.Source) error {
	if o.push != "" {
		if o.layoutSet {
			return &fault.Error{What: "--push and --layout", Fix: "leave out one of them"}
		}
		if err := oci.CheckPush(strings.TrimSuffix(o.push, "/") + "/name"); err != nil {
			return err
		}
	}
	if len(o.bases) == 0 {
		return &fault.Error{What: "no base image", Fix: "--base mcr.microsoft.com/oss/kubernetes/windows-host-process-containers-base-image@sha256:..., or for csi-proxy's pipes --base mcr.microsoft.com/windows/servercore@sha256:...; the digest is from: skopeo inspect --override-os windows --format '{{.Digest}}' docker://IMAGE:TAG"}
	}
	if len(o.windows) == 0 {
		return &fault.Error{What: "no Windows version to build for", Fix: "--windows, one of " + strings.Join(csidriver.WindowsVersions(), ", ")}
	}
	for _, s := range sources {
		if _, err := s.HostProcess(cat, csidriver.Mode(o.mode), nil); err != nil {
			return err
		}
		if o.push != "" {
			continue
		}
		if err := oci.CheckPlace(oci.KindLayout, filepath.Join(o.layout, s.Build.Name)); err != nil {
			return err
		}
	}
	_, err := createdAt(nil)
	return err
}

// plan settles each program's mode and bases.
func (t *tool) plan(ctx context.Context, cat *catalog.Catalog, sources []*driver.Source, bases *driver.Bases, o *driverOptions) error {
	warned := map[string]bool{}
	for _, s := range sources {
		hostProcess, err := s.HostProcess(cat, csidriver.Mode(o.mode), bases.All)
		if err != nil {
			return err
		}
		s.InHostProcess, s.Bases = hostProcess, driver.ForMode(bases.All, hostProcess)
		warning, err := driver.CheckBases(ctx, s.Bases, o.windows)
		if err != nil {
			return fmt.Errorf("%s, mode %s: %w", s.Build.Name, driver.ModeName(hostProcess), err)
		}
		if warning != "" && !warned[warning] {
			t.warn(s.Bases[0].Digest, warning)
			warned[warning] = true
		}
	}
	return nil
}

// driverRow is one image.
type driverRow struct {
	Name      string   `json:"name"`
	Reference string   `json:"reference"` // by digest
	Digest    string   `json:"digest"`
	Version   string   `json:"version"`
	Commit    string   `json:"commit"`
	Source    string   `json:"source"`
	Mode      string   `json:"mode"`
	Bases     []string `json:"bases"`
	Program   string   `json:"program"` // sha256:...
	Size      int64    `json:"size"`    // of the program, in bytes
	Note      string   `json:"note,omitempty"`
}

func (t *tool) buildDrivers(ctx context.Context, file *pins.File, sources []*driver.Source, o *driverOptions) ([]driverRow, error) {
	b, err := t.builder(ctx, o.buildOptions)
	if err != nil {
		return nil, err
	}
	jobs, err := t.driverJobs(ctx, b, file, sources)
	if err != nil {
		return nil, err
	}
	artifacts, err := b.BuildSound(ctx, jobs)
	if err != nil {
		return nil, err
	}
	var rows []driverRow
	for i, s := range sources {
		a := artifacts[i]
		program := driver.Program{Name: s.Build.Exe, Size: a.Size, Open: func() (io.ReadCloser, error) { return b.Store.Open(a.Digest) }}
		layer, err := driver.NewLayer(ctx, program, blobStore{b.Store})
		if err != nil {
			return nil, err
		}
		created, err := createdAt(jobs[i : i+1])
		if err != nil {
			return nil, err
		}
		image, err := driver.Images(s.Bases, layer, driver.Options{Program: s.Build.Exe, HostProcess: s.InHostProcess, Created: created, Labels: s.Labels(created)})
		if err != nil {
			return nil, err
		}
		row, err := t.writeDriver(ctx, s, image, o)
		if err != nil {
			return nil, err
		}
		row.Program, row.Size, row.Mode = a.Digest, a.Size, driver.ModeName(s.InHostProcess)
		for _, base := range s.Bases {
			row.Bases = append(row.Bases, base.Digest)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// driverJobs locks the pins that versions.lock doesn't have: of a git tree, the
// commit decides everything.
func (t *tool) driverJobs(ctx context.Context, b *compile.Builder, file *pins.File, sources []*driver.Source) ([]*compile.Job, error) {
	var jobs []*compile.Job
	r := &resolve.Resolver{Host: b.Host, Git: b.Git, Events: t.Console, Lock: &pins.Lock{}}
	for _, s := range sources {
		if s.Locked {
			of, err := t.lockedJobs(file, []string{s.Pin.Name})
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, of...)
			continue
		}
		results, err := r.Resolve(ctx, file, []*pins.Component{&s.Pin})
		if err != nil {
			return nil, err
		}
		locked := results[s.Pin.Name].Locked
		stamps, err := s.Pin.Stamps(locked, sourceDateEpoch())
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, &compile.Job{File: file, Component: &s.Pin, Locked: locked, Stamps: stamps})
	}
	return jobs, nil
}

func (t *tool) writeDriver(ctx context.Context, s *driver.Source, image oci.ImageOrIndex, o *driverOptions) (row driverRow, err error) {
	digest, err := image.Digest()
	if err != nil {
		return row, err
	}
	row = driverRow{Name: s.Build.Name, Digest: digest.String(), Version: s.Pin.Version, Commit: s.Pin.Commit, Source: s.Pin.Git, Note: s.Note}
	if o.push != "" {
		ref := fmt.Sprintf("%s/%s:%s-%s", strings.TrimSuffix(o.push, "/"), s.Build.Name, s.Pin.Version, s.Pin.Commit[:12])
		row.Reference, err = t.push(ctx, ref, o.registry, image)
		return row, err
	}
	dir := filepath.Join(o.layout, s.Build.Name)
	row.Reference = dir + "@" + digest.String()
	return row, t.step(dir, event.Write, func(p stream.Progress, _ *event.Event) error {
		_, err := oci.WriteLayout(ctx, dir, image, p)
		return err
	})
}

func (t *tool) driverDiff(ctx context.Context, sources []*driver.Source, o *driverOptions) error {
	git, err := t.git()
	if err != nil {
		return err
	}
	var rows []driver.Carried
	for _, s := range sources {
		all, err := s.Carries(ctx, git)
		if err != nil {
			return err
		}
		rows = append(rows, all...)
	}
	return o.output.Write(t.Stdout, rows, func() [][]string {
		return app.Table("DRIVER COMMIT DATE SUBJECT", rows, func(r driver.Carried) []string {
			return []string{r.Driver, r.Commit[:12], r.Date.Format(time.DateOnly), r.Subject}
		})
	})
}
