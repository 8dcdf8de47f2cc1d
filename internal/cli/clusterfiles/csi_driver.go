// Package clusterfiles has the commands of bake that write objects for a cluster
// and need no pins: a CSI driver's Windows part, and the precheck.
package clusterfiles

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver/present"
)

type csiDriverOptions struct {
	csidriver.Options
	release, digestFile, out, upgradeFrom string
	catalog                               catalogflag.Flag
	output                                app.Output
	// given tells whether a flag was on the command line.
	given func(flag string) bool
}

// NewCSIDriver returns the command `bake manifests csi-driver`.
func NewCSIDriver(a *app.App) *cobra.Command {
	o := csiDriverOptions{output: app.NewOutput("CSIDriverManifests", &csiReport{})}
	cmd := &cobra.Command{
		Use:   "csi-driver " + strings.Join(csidriver.Drivers(), "|"),
		Short: "Write the Windows part of a CSI driver for a release",
		Long: `csi-driver writes a folder for oc apply: the DaemonSet that runs a CSI driver on
Windows nodes and what it needs of its namespace. Its folder example has a
StorageClass, a claim and a Deployment to try it with. Each file begins with what
it is for.

The version is the upstream one closest to what the release runs on Linux, by
the catalog ("verify catalog" prints it, --catalog adds rows to it). Controller, CSIDriver object and Linux
nodes are left to the cluster's own operator.

--mode auto takes what the driver's project deploys at that version: a container
that reaches the node through csi-proxy's pipes, or a HostProcess container. In
` + csidriver.OperatorNamespace + ` it runs as OpenShift's own service account;
in another namespace it gets one, with its rights.

Windows nodes pull through a mirror by the path that an image has at its source,
so --registry changes the host and keeps that path. --digest-file pins images: a
line each, IMAGE:TAG sha256:...

--image deploys what bake driver built: then the version is the release's own, even
where its project published no image of it.

--upgrade-from reads a DaemonSet that runs now, and tells what changes and why: a
new tag alone breaks a driver whose mode, flags or mounts change with it. The new one
keeps namespace, name, selector and service account, so that oc replace has its pods
replaced node by node; with another --namespace the old one must be deleted first.
Mode and mirror stay as they are unless a flag says otherwise, and so does what an
admin sets in any DaemonSet: pull secrets, node selector, affinity, tolerations,
labels, resources and the like. Without --out it only tells.

Nothing is written over: the folder must be new or empty, or be what would be
written.`,
		Example: `  bake manifests csi-driver vsphere --for 4.18 --out vsphere
  bake manifests csi-driver azure-disk --for 4.20.3 --mode pipes --out azure-disk
  bake manifests csi-driver aws-ebs --for 4.20 --windows 2025 --mode hostprocess --out ebs
  bake manifests csi-driver vsphere --for 4.20 --registry mirror.example.com:5000/ocp --digest-file digests.txt --out vsphere
  bake manifests csi-driver --upgrade-from old.yaml --for 4.20 --out vsphere
  bake manifests csi-driver --upgrade-from old.yaml --for 4.20 -o json
  verify skew --from 4.18 --manifests vsphere --static`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: csidriver.Drivers(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given = cmd.Flags().Changed
			return o.run(cmd.Context(), a, strings.Join(args, ""))
		},
	}
	o.register(cmd)
	return cmd
}

func (o *csiDriverOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.release, "for", "", "OpenShift release, 4.20 or 4.20.3")
	app.OutFolder(f, &o.out)
	f.StringVar((*string)(&o.Mode), "mode", string(csidriver.Auto), strings.Join(csidriver.Modes(), ", "))
	f.StringVar(&o.Windows, "windows", csidriver.WindowsVersions()[0], "Windows Server of the nodes: "+strings.Join(csidriver.WindowsVersions(), ", "))
	f.StringVar(&o.Namespace, "namespace", csidriver.OperatorNamespace, "the DaemonSet's namespace")
	f.StringVar(&o.Registry, "registry", "", "mirror to take all images from, HOST[:PORT][/FOLDER]")
	f.Lookup("registry").Annotations = map[string][]string{app.EmptyIsValue: nil} // no mirror any more, with --upgrade-from
	f.StringVar(&o.Image, "image", "", "the driver's image, by digest, in place of the project's: one that bake driver built")
	f.StringVar(&o.Registrar, "registrar-image", "", "the node-driver-registrar's, likewise")
	f.StringVar(&o.Probe, "probe-image", "", "the livenessprobe's, likewise")
	f.StringVar(&o.digestFile, "digest-file", "", "file of images and their digests")
	f.StringVar(&o.upgradeFrom, "upgrade-from", "", "file with the DaemonSet that runs now: tell what changes, and why")
	o.catalog.Register(cmd)
	o.output.Register(cmd)
	app.Choices(cmd, "mode", csidriver.Modes()...)
	app.Choices(cmd, "windows", csidriver.WindowsVersions()...)
	app.Complete(cmd, "for", o.catalog.Releases)
}

// run is the pipeline: catalog, objects, folder, and what to run next.
func (o *csiDriverOptions) run(ctx context.Context, a *app.App, driver string) error {
	cat, err := o.catalog.Load()
	if err != nil {
		return err
	}
	o.Driver = driver
	if o.upgradeFrom != "" {
		if o.Old, err = readOld(cat, o.upgradeFrom, driver); err != nil {
			return err
		}
		o.Driver = o.Old.Driver
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.Old != nil {
		o.keep(cat)
	}
	folder, err := csidriver.Render(cat, o.Options)
	if err != nil {
		return err
	}
	r := &csiReport{Driver: o.Driver, Version: folder.Version.Core(), OpenShift: o.For.String(), HostProcess: folder.HostProcess, Notes: folder.Notes, title: folder.Title}
	if o.Old != nil {
		r.Upgrade = folder.Compare(cat, o.Old)
	}
	if o.out != "" {
		if err := writeCSIDriver(ctx, a, folder, o.out); err != nil {
			return err
		}
		r.wrote(folder, o)
	}
	return o.output.Write(a.Stdout, r, r.lines)
}

func writeCSIDriver(ctx context.Context, a *app.App, folder *csidriver.Folder, out string) error {
	if err := writeFolder(ctx, out, folder.Files); err != nil {
		return err
	}
	for _, note := range folder.Notes {
		a.Tell(out, event.Write, event.Warning, note)
	}
	mode := "csi-proxy's pipes"
	if folder.HostProcess {
		mode = "HostProcess"
	}
	a.Tell(out, event.Write, event.Done, fmt.Sprintf("%s v%s, %s: %s", folder.Title, folder.Version.Core(), mode, inventory.Many(len(folder.Files), "file")))
	return nil
}

func (o *csiDriverOptions) keep(cat *catalog.Catalog) {
	if !o.given("mode") {
		o.Mode = ""
	}
	if !o.given("namespace") {
		o.Namespace = o.Old.Namespace()
	}
	if !o.given("registry") {
		o.Registry = o.Old.Registry(cat)
	}
}

// check checks the flags that can be checked alone, and reads the digests.
func (o *csiDriverOptions) check() (err error) {
	if o.Driver == "" {
		return &fault.Error{What: "no driver to write", Fix: "bake manifests csi-driver DRIVER, one of " + strings.Join(csidriver.Drivers(), ", ") + "; or --upgrade-from a file"}
	}
	if o.release == "" {
		return &fault.Error{What: "no release to write for", Fix: "--for 4.20"}
	}
	if o.out == "" && o.upgradeFrom == "" {
		return &fault.Error{What: "no folder to write", Fix: "--out " + o.Driver}
	}
	if o.For, err = version.ParseOpenShift(o.release); err != nil {
		return &fault.Error{What: "--for: " + err.Error(), Fix: "--for 4.20", Err: err}
	}
	if o.digestFile == "" {
		return nil
	}
	text, err := infile.Read(o.digestFile, infile.Text)
	if err != nil {
		return &fault.Error{Where: o.digestFile, What: "can't read the digests: " + err.Error(), Fix: "give a file of lines IMAGE:TAG sha256:...", Err: err}
	}
	o.Digests, err = csidriver.ParseDigests(o.digestFile, text)
	return err
}

// readOld reads the DaemonSet of --upgrade-from. driver is what was asked for,
// "" to take the file's.
func readOld(cat *catalog.Catalog, name, driver string) (*csidriver.Old, error) {
	text, err := infile.Read(name, infile.Text)
	if err != nil {
		return nil, &fault.Error{Where: name, What: "can't read the old DaemonSet: " + err.Error(), Fix: "oc get daemonset NAME -o yaml > " + shell.Word(name), Err: err}
	}
	old, err := present.Parse(cat, name, text)
	if err != nil {
		return nil, err
	}
	if driver != "" && driver != old.Driver {
		return nil, &fault.Error{Where: name, What: fmt.Sprintf("the DaemonSet in it runs %s, not %s", old.Driver, driver), Fix: "leave the driver's name out, or give another file"}
	}
	return old, nil
}

// csiReport is what the command says: JSON, or lines for people.
type csiReport struct {
	Driver      string `json:"driver"`
	Version     string `json:"version"`
	OpenShift   string `json:"openshift"`
	HostProcess bool   `json:"hostProcess"`
	// Upgrade is what changes of --upgrade-from.
	Upgrade *csidriver.Upgrade `json:"upgrade,omitempty"`
	// Folder is what was written, Files its files in their order, Next the commands
	// to run next.
	Folder string   `json:"folder,omitempty"`
	Files  []string `json:"files,omitempty"`
	Next   []string `json:"next,omitempty"`
	Notes  []string `json:"notes,omitempty"`

	title string
}

func (r *csiReport) wrote(folder *csidriver.Folder, o *csiDriverOptions) {
	out := o.out
	r.Folder = out
	for _, f := range folder.Files {
		r.Files = append(r.Files, f.Name)
	}
	check := fmt.Sprintf("verify skew --from %s --manifests %s --static", r.OpenShift, shell.Path(out))
	for _, rows := range o.catalog.Paths {
		check += " --catalog " + shell.Word(rows)
	}
	r.Next = []string{check}
	path := func(name string) string { return shell.Path(filepath.Join(out, name)) }
	switch {
	case r.Upgrade == nil:
		r.Next = append(append(r.Next, "oc apply -f "+shell.Path(out)), folder.TryOut(path)...)
	case r.Upgrade.Delete != "":
		r.Next = append(r.Next, r.Upgrade.Delete, "oc apply -f "+shell.Path(out))
	default:
		// An apply over what wasn't applied leaves old volumes and arguments in it.
		for _, name := range folder.Access() {
			r.Next = append(r.Next, "oc apply -f "+path(name))
		}
		r.Next = append(r.Next, "oc replace -f "+path(csidriver.DaemonSetFile))
	}
}

// lines are the report for people: what changes as a diff, by the reasons for
// it, and what to run next.
func (r *csiReport) lines() [][]string {
	var rows [][]string
	say := func(format string, args ...any) { rows = append(rows, []string{fmt.Sprintf(format, args...)}) }
	if u := r.Upgrade; u != nil {
		say("%s: v%s -> v%s, for OpenShift %s", r.title, cmp.Or(u.From, "(unknown)"), r.Version, r.OpenShift)
		if u.Back {
			say("")
			say("This goes back to an older version. Nothing forbids a newer one on Windows.")
		}
		r.changes(say)
		if u.Delete != "" {
			say("")
			say("The old DaemonSet must go first: %s.", u.DeleteWhy)
			say("Until the new pods are ready, Windows pods can't mount volumes that they don't have yet. The way back: delete the new DaemonSet, and oc create -f the old one's manifest.")
		}
		say("")
	}
	for _, command := range r.Next {
		say("%s", command)
	}
	return rows
}

// changes says what changes and then what is kept, below the reason for each.
func (r *csiReport) changes(say func(string, ...any)) {
	last := ""
	reason := func(why string) {
		if why != last {
			say("")
			say("%s:", why)
		}
		last = why
	}
	for _, c := range r.Upgrade.Changes {
		reason(c.Why)
		if c.From != "" {
			say("  - %s: %s", c.Where, c.From)
		}
		if c.To != "" {
			say("  + %s: %s", c.Where, c.To)
		}
	}
	if len(r.Upgrade.Changes) == 0 {
		say("")
		say("Nothing changes.")
	}
	last = ""
	for _, k := range r.Upgrade.Kept {
		reason(k.Why)
		say("  = %s: %s", k.Where, k.What)
	}
}
