// Package image opens the payload image that a build names, holds it to its
// digest and release, and says what a machine of a profile should be with it.
//
// It reads images; putting them onto machines is package deploy's.
package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/windows/deploy"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/packer/plugin/internal/record"
	"github.com/winbake/winbake/packer/plugin/version"
	"github.com/winbake/winbake/payload"
)

// Image is an opened image. The caller closes it.
type Image struct {
	*deploy.Image
	Source *oci.Source
	// Digest is "sha256:...", "" for a folder.
	Digest string
	// Release is what the image says that it is for, "" for nothing.
	Release string
}

// Open opens the image. The error is a *fault.Error, or one of the registry's.
func Open(ctx context.Context, o Options) (*Image, error) {
	source, err := oci.Load(ctx, o.Payload, oci.Options{Keychain: authn.DefaultKeychain, Insecure: o.PlainHTTP, UserAgent: version.UserAgent()})
	if err != nil {
		return nil, err
	}
	im := &Image{Source: source}
	if err := im.open(ctx, o); err != nil {
		return nil, errors.Join(err, source.Close())
	}
	return im, nil
}

func (im *Image) open(ctx context.Context, o Options) error {
	if err := im.pinned(o); err != nil {
		return err
	}
	var err error
	if im.Image, err = deploy.ReadImage(ctx, im.Source, stock(im.Source.Reference())); err != nil {
		return err
	}
	if im.Release = im.Expectation.Release; im.Release == "" {
		if im.Release, err = labelled(im.Source); err != nil {
			return err
		}
	}
	if o.Release != "" && im.Release != o.Release {
		says := "doesn't say which OpenShift release it is for"
		if im.Release != "" {
			says = "is for OpenShift " + im.Release
		}
		return &fault.Error{Where: o.Payload, What: "the payload " + says + ", and the build is for " + o.Release, Fix: "give the payload of " + o.Release}
	}
	return profiled(im.Expectation, o.Profile, im.Reference)
}

// pinned refuses an image that may be another one tomorrow, or already is.
func (im *Image) pinned(o Options) error {
	s := im.Source
	if s.Kind == oci.KindDir {
		if o.Digest != "" {
			return &fault.Error{Where: o.Payload, What: "a folder of files has no digest that the build could be held to", Fix: "bake payload --layout DIR, and name that layout"}
		}
		return nil
	}
	im.Digest = s.Digest.String()
	switch {
	case s.Kind == oci.KindRegistry && !strings.Contains(o.Payload, "@sha256:"):
		return &fault.Error{Where: o.Payload, What: "a tag may be another image tomorrow", Fix: fmt.Sprintf("payload = %q", s.Reference())}
	case o.Digest != "" && o.Digest != im.Digest:
		return &fault.Error{Where: o.Payload, What: "the payload has changed: its digest is " + im.Digest + ", the build is held to " + o.Digest,
			Fix: "see who changed it and why; if that is right, build with the new digest"}
	}
	return nil
}

// labelled is the release that the image's labels tell.
func labelled(s *oci.Source) (string, error) {
	if s.Kind == oci.KindDir {
		return "", nil
	}
	image, err := s.Image()
	if err != nil {
		return "", err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return "", fmt.Errorf("read the payload's configuration: %w", err)
	}
	return payload.ReleaseOf(config.Config.Labels), nil
}

// VerifyExe is the verify.exe for the machine: the one that is named, or came
// in the image, or lies beside this plugin.
func (im *Image) VerifyExe(named string) ([]byte, error) {
	if named == "" && im.Verify != nil {
		return im.Verify, nil
	}
	if named == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this plugin: %w", err)
		}
		named = filepath.Join(filepath.Dir(self), payload.VerifyName)
	}
	data, err := infile.Read(named, infile.Any)
	if err != nil {
		return nil, &fault.Error{Where: named, What: "there is no verify.exe, and the payload brings none: " + err.Error(),
			Fix: "bake payload --with-verify; or bake verify-exe --out verify.exe, and name that file in verify_binary", Err: err}
	}
	return data, nil
}

// Unpack writes what a machine fetches into a folder of Packer's cache, under
// the names that it has on the machine: an archive of each file, and
// verify.exe where the image brings one. It returns the folder.
func (im *Image) Unpack(ctx context.Context) (string, error) {
	dir, err := packersdk.CachePath("winbake", strings.TrimPrefix(im.Digest, "sha256:"))
	if err != nil {
		return "", fmt.Errorf("find Packer's cache: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a folder for the payload's files: %w", err)
	}
	if im.Verify != nil {
		if err := record.Write(filepath.Join(dir, deploy.ExeName(im.Verify)), im.Verify); err != nil {
			return "", err
		}
	}
	return dir, im.Archives(ctx, im.Expectation.Files, func(_ node.File, name string, archive io.Reader) error {
		return atomicfs.PutFile(filepath.Join(dir, path.Base(name)), func(w io.Writer) error {
			_, err := io.Copy(w, archive)
			return err
		})
	})
}
