package clusterfiles

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/build/driver"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/internal/cluster/manifests/nodeset"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/windows/deploy"
)

type nodeOptions struct {
	nodeset.Options
	payload, base, push, out string
	windows                  []string
	checkOnly, remove        bool
	registry                 app.Registry
}

// NewNode returns the command `bake manifests node`.
func NewNode(a *app.App) *cobra.Command {
	var o nodeOptions
	cmd := &cobra.Command{
		Use:   "node",
		Short: "Write a DaemonSet that installs a payload on Windows nodes",
		Long: `node is for Windows nodes without the Windows Machine Config Operator. It puts a
payload and its verify.exe onto a base for HostProcess containers, pushes that
image, and writes a DaemonSet that installs the payload on each Windows node, one
node at a time, and checks it from then on. A pod is ready while the check of its
node passes; what a check finds is in the pod's events and log.

--payload is an image of bake payload --with-verify: in a registry, an OCI layout or
a tarball. --base is a HostProcess base image by digest. With --image, an image that
was pushed before, nothing is built.

--check-only writes a DaemonSet that changes nothing: also for nodes of the operator.
--remove writes one that takes off what was installed: apply it over the first, wait
until it is rolled out, and delete it.`,
		Example: `  bake manifests node --payload quay.io/me/payload@sha256:... --base mcr.microsoft.com/oss/kubernetes/windows-host-process-containers-base-image@sha256:... --push quay.io/me/winbake-node:4.20 --only csi-proxy --out node
  bake manifests node --image quay.io/me/winbake-node@sha256:... --check-only --out check
  bake manifests node --image quay.io/me/winbake-node@sha256:... --remove --out remove`,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.payload, "payload", "", "payload image with verify.exe")
	f.StringVar(&o.base, "base", "", "HostProcess base image: a reference by digest, an OCI layout or a tarball")
	f.StringVar(&o.push, "push", "", "where the image is pushed to, REGISTRY/NAME:TAG")
	f.StringVar(&o.Image, "image", "", "an image that was pushed before, by digest")
	app.OutFolder(f, &o.out)
	f.StringVar(&o.Namespace, "namespace", nodeset.DefaultNamespace, "the DaemonSet's namespace")
	f.StringSliceVar(&o.Only, "only", nil, "only these components and the services that run them")
	f.BoolVar(&o.checkOnly, "check-only", false, "install nothing")
	f.BoolVar(&o.remove, "remove", false, "take off what was installed")
	f.DurationVar(&o.Every, "every", 15*time.Minute, "time between two checks of a node")
	f.StringSliceVar(&o.windows, "windows", csidriver.WindowsVersions()[:1], "Windows Server of the nodes, which the base must suit")
	o.registry.Register(f, "registries")
	cmd.MarkFlagsMutuallyExclusive("check-only", "remove")
	cmd.MarkFlagsMutuallyExclusive("image", "payload")
	cmd.MarkFlagsMutuallyExclusive("image", "push")
	app.Complete(cmd, "windows", cobra.FixedCompletions(csidriver.WindowsVersions(), cobra.ShellCompDirectiveNoFileComp))
	return app.Answer(a, "NodeManifests", cmd, func(ctx context.Context, _ []string) (written, error) {
		return o.run(ctx, a)
	}, written.rows)
}

// run is the pipeline: image, objects, folder, and what to run next.
func (o *nodeOptions) run(ctx context.Context, a *app.App) (w written, err error) {
	switch {
	case o.out == "":
		return w, &fault.Error{What: "no folder to write", Fix: "--out node"}
	case o.checkOnly:
		o.Mode = nodeset.CheckOnly
	case o.remove:
		o.Mode = nodeset.Remove
	}
	if err := o.Check(); err != nil {
		return w, err
	}
	if o.Image == "" {
		if o.Image, err = o.pushImage(ctx, a); err != nil {
			return w, err
		}
	}
	files, err := nodeset.Render(o.Options)
	if err != nil {
		return w, err
	}
	next := []string{"kubectl apply -f " + shell.Path(o.out), "kubectl -n " + o.Namespace + " rollout status daemonset/winbake-node"}
	if o.remove {
		next = append(next, "kubectl delete -f "+shell.Path(o.out))
	} else {
		next = append(next, "kubectl -n "+o.Namespace+" get pods -o wide", "kubectl -n "+o.Namespace+" get events")
	}
	return write(ctx, a, o.out, files, nil, next...)
}

// pushImage puts the payload and its verify.exe onto the base, and returns the pushed
// image by digest.
func (o *nodeOptions) pushImage(ctx context.Context, a *app.App) (ref string, err error) {
	for _, flag := range []struct{ value, what, fix string }{
		{o.payload, "no payload to install", "--payload REGISTRY/payload@sha256:..., or --image with an image that was pushed before"},
		{o.base, "no base image", "--base mcr.microsoft.com/oss/kubernetes/windows-host-process-containers-base-image@sha256:...; the digest is from: skopeo inspect --override-os windows --format '{{.Digest}}' docker://IMAGE:TAG"},
		{o.push, "nowhere to push the image to", "--push REGISTRY/winbake-node:4.20"},
	} {
		if flag.value == "" {
			return "", &fault.Error{What: flag.what, Fix: flag.fix}
		}
	}
	if err := oci.CheckPush(o.push); err != nil {
		return "", err
	}
	load := o.registry.Options(a)
	source, err := oci.Load(ctx, o.payload, load)
	if err != nil {
		return "", err
	}
	defer source.Close() //nolint:errcheck // only read
	base, err := o.openBase(ctx, a, load)
	if err != nil {
		return "", err
	}
	defer base.Close()
	dir, err := os.MkdirTemp("", "winbake-node-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	files, labels, err := o.content(ctx, source, filepath.Join(dir, "payload"))
	if err != nil {
		return "", err
	}
	archive, err := os.Create(filepath.Join(dir, "layer.tar.gz"))
	if err != nil {
		return "", err
	}
	if err := errors.Join(driver.Pack(ctx, archive, files...), archive.Close()); err != nil {
		return "", err
	}
	layer, err := tarball.LayerFromFile(archive.Name(), tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return "", err
	}
	image, err := driver.Images(base.All, layer, driver.Options{Program: "verify.exe", HostProcess: true, Labels: labels})
	if err != nil {
		return "", err
	}
	a.Tell(o.push, event.Push, event.Start, "")
	if ref, err = oci.Push(ctx, o.push, image, load); err == nil {
		a.Tell(o.push, event.Push, event.Done, "")
	}
	return ref, err
}

func (o *nodeOptions) openBase(ctx context.Context, a *app.App, load oci.Options) (*driver.Bases, error) {
	bases, err := driver.OpenBases(ctx, []string{o.base}, load)
	if err != nil {
		return nil, err
	}
	bases.All = driver.ForMode(bases.All, true)
	warning, err := driver.CheckBases(ctx, bases.All, o.windows)
	if err == nil && bases.All[0].Build != 0 {
		err = &fault.Error{Where: o.base, What: "it is a base for one Windows version, not for HostProcess containers", Fix: "--base mcr.microsoft.com/oss/kubernetes/windows-host-process-containers-base-image@sha256:..."}
	}
	if err != nil {
		bases.Close()
		return nil, err
	}
	if warning != "" {
		a.Tell(o.base, event.Pack, event.Warning, warning)
	}
	return bases, nil
}

// content is what the layer has: verify.exe, and beside it the payload as an OCI layout,
// which is the same image with the same digest.
func (o *nodeOptions) content(ctx context.Context, source *oci.Source, dir string) ([]driver.Program, map[string]string, error) {
	im, err := deploy.ReadImage(ctx, source, nil)
	if err != nil {
		return nil, nil, err
	}
	if im.Verify == nil {
		return nil, nil, &fault.Error{Where: im.Reference, What: "it has no verify.exe, which installs it", Fix: "make it again: bake payload --with-verify"}
	}
	if err := im.Only(o.Only); err != nil {
		return nil, nil, err
	}
	image, err := source.Image()
	if err != nil {
		return nil, nil, err
	}
	digest, err := oci.WriteLayout(ctx, dir, image, nil)
	if err != nil {
		return nil, nil, err
	}
	files := []driver.Program{{Name: "verify.exe", Size: int64(len(im.Verify)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(im.Verify)), nil }}}
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(filepath.Dir(dir), name)
		files = append(files, driver.Program{Name: filepath.ToSlash(inside), Size: info.Size(), Open: func() (io.ReadCloser, error) { return os.Open(name) }})
		return err
	})
	return files, map[string]string{oci.KeyTitle: "a payload for Windows nodes, and verify.exe", "dev.winbake.payload": digest.String()}, err
}
