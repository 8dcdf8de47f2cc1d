package ociimage

import (
	"context"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/registry"
	"github.com/winbake/winbake/internal/shell"
)

// Resolve opens the image that a payload is appended to. In a registry it
// must be named by digest, since a tag may be another image tomorrow: a tag is
// refused with the reference by digest to paste. Local images are what their
// bytes are.
func Resolve(ctx context.Context, ref string, opts Options) (*Source, error) {
	kind, rest, err := kindOf(ref)
	if err != nil {
		return nil, err
	}
	if kind == KindDir {
		return nil, &fault.Error{
			What: "a plain folder can't be a base image", Where: rest,
			Fix: "give an operator image: a registry reference by digest, an OCI layout or a tarball",
		}
	}
	if kind == KindRegistry {
		if err := refuseTag(ctx, rest, opts); err != nil {
			return nil, err
		}
	}
	s, err := Load(ctx, ref, opts)
	if err != nil {
		return nil, err
	}
	if _, err := s.Images(); err != nil { // before anything large is read of it
		_ = s.Close() // it was only read
		return nil, err
	}
	return s, nil
}

func refuseTag(ctx context.Context, ref string, opts Options) error {
	r, err := registry.Parse(ref, opts.Insecure)
	if err != nil {
		return err
	}
	if _, ok := r.(name.Digest); ok {
		return nil
	}
	s, err := loadRegistry(ctx, ref, opts)
	if err != nil {
		return err
	}
	return &fault.Error{
		What: "the base image is named by a tag, which may be another image tomorrow", Where: ref,
		Fix: "--base " + shell.Word(s.Reference()),
	}
}
