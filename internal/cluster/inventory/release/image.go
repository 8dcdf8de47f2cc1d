package release

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/compression"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/registry"
	"github.com/winbake/winbake/internal/image/rootfs"
)

func fromImage(ctx context.Context, ref string, o oci.Options) (inventory.Payload, error) {
	s, err := openImage(ctx, ref, o)
	if err != nil {
		return inventory.Payload{}, imageFault(ctx, ref, err)
	}
	defer s.Close() //nolint:errcheck // only read
	references, err := referencesOf(ctx, s)
	if err != nil {
		return inventory.Payload{}, imageFault(ctx, s.Reference(), err)
	}
	p, err := Parse(s.Reference()+": "+folder+"/"+referencesFile, references)
	if images, unread := s.Images(); unread == nil {
		p.Architecture = images[0].Platform.Architecture
	}
	return p, err
}

// openImage opens what ref names. Of a release for several architectures that is
// the image for amd64, else the first: each of them names the same images.
func openImage(ctx context.Context, ref string, o oci.Options) (*oci.Source, error) {
	s, err := oci.Load(ctx, ref, o)
	if err != nil {
		return nil, err
	}
	images, err := s.Images()
	if err == nil && len(images) == 1 {
		return s, nil
	}
	_ = s.Close() // only read
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(images, func(p oci.PlatformImage) bool { return p.Platform.Architecture == "amd64" })
	o.Platform = &images[max(i, 0)].Platform
	return oci.Load(ctx, ref, o)
}

// referencesOf reads the file. What `oc adm release new` adds is one layer on
// top of the operator's image, so one of some fifteen is read.
func referencesOf(ctx context.Context, s *oci.Source) (references []byte, err error) {
	err = rootfs.Walk(ctx, s, rootfs.Options{
		Roots: []string{folder}, Limits: rootfs.Limits{MaxFile: infile.Text},
		Enough: func() bool { return references != nil },
	}, func(e *rootfs.Entry) (err error) {
		if !e.Mode.IsDir() && e.Path == folder+"/"+referencesFile {
			references, err = io.ReadAll(e.Content)
		}
		return err
	})
	if err == nil && references == nil {
		err = &fault.Error{
			What: "not a release image: no layer holds " + folder + "/" + referencesFile, Where: s.Reference(),
			Fix: "give a release image, such as quay.io/openshift-release-dev/ocp-release:4.20.3-x86_64",
		}
	}
	return references, err
}

// imageFault puts the words for a release image into a fault about an image. A
// site without a way to the registry can always bring a file.
func imageFault(ctx context.Context, where string, err error) error {
	if cerr := ctx.Err(); cerr != nil {
		return cerr
	}
	if limit, ok := errors.AsType[*rootfs.LimitError](err); ok {
		return &fault.Error{What: limit.Error(), Where: where, Err: err, Fix: "give a release image, or a file about one: " + saveInfo}
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	g := *f
	g.Code, g.Err = 0, err
	_, answered := errors.AsType[*transport.Error](err)
	_, failed := errors.AsType[*registry.Failure](err)
	switch {
	case answered || failed:
		g.Fix += "; without a way there, save it elsewhere: " + saveInfo
	case strings.Contains(f.Fix, "payload") || strings.Contains(f.Fix, "layout"):
		g.Fix = "copy the image again: skopeo copy docker://RELEASE oci:DIR; or give a file about it: " + saveInfo
	}
	return &g
}

func readText(file string) ([]byte, error) {
	src, err := infile.Read(file, infile.Text)
	if err != nil {
		return nil, unreadable(file, err)
	}
	return src, nil
}

func unreadable(file string, err error) error {
	return &fault.Error{What: "can't be read: " + infile.Cause(err), Where: file, Err: err, Fix: "ls -ld " + shell.Word(file)}
}

// isArchive tells a tar archive, compressed or not, by its magic number: the
// letters "ustar" at 257 (POSIX pax), or those of gzip and zstd.
func isArchive(file string) (bool, error) {
	f, err := infile.Open(file)
	if err != nil {
		return false, unreadable(file, err)
	}
	defer f.Close() // only read
	head, err := io.ReadAll(io.LimitReader(f, 512))
	if err != nil {
		return false, unreadable(file, err)
	}
	return oci.Sniff(head) != compression.None || len(head) > 262 && bytes.Equal(head[257:262], []byte("ustar")), nil
}
