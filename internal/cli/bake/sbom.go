package bake

import (
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/build/sbom"
	"github.com/winbake/winbake/internal/image/oci"
)

// describedImage is an image or index with what its SBOM says.
func (p *packing) sbomOf(digest string) ([]byte, error) {
	created, err := createdAt(p.jobs)
	if err != nil {
		return nil, err
	}
	image := &sbom.Image{Digest: digest, Release: p.file.Release, Created: created, Kept: p.kept}
	if p.base.image != nil {
		base, err := p.base.image.Digest()
		if err != nil {
			return nil, err
		}
		image.Base = base.String()
	}
	for i, j := range p.jobs {
		image.Built = append(image.Built, sbom.Built{Component: j.Component, Locked: j.Locked, SHA256: p.tree.Files[i].SHA256})
	}
	return p.sbom.Encode(image)
}

// writeSBOM writes it beside an output.
func (p *packing) writeSBOM(path, digest string) error {
	if p.sbom == sbom.None {
		return nil
	}
	data, err := p.sbomOf(digest)
	if err != nil {
		return err
	}
	path += p.sbom.Suffix()
	return atomicfs.CantWrite(path, atomicfs.WriteFile(path, data))
}

// pushSBOMs pushes one for each image, and for the index: before them, so that no image
// has a tag and no SBOM.
func (p *packing) pushSBOMs(ctx context.Context, to string, x oci.ImageOrIndex) error {
	if p.sbom == sbom.None {
		return nil
	}
	subjects, err := subjectsOf(x)
	if err != nil {
		return err
	}
	repository, err := oci.RepositoryOf(to)
	if err != nil {
		return err
	}
	for _, subject := range subjects {
		data, err := p.sbomOf(subject.Digest.String())
		if err != nil {
			return err
		}
		referrer, err := oci.NewReferrer(p.sbom.MediaType(), nil, data, subject)
		if err != nil {
			return err
		}
		digest, err := referrer.Digest()
		if err != nil {
			return err
		}
		if _, err := oci.Push(ctx, repository+"@"+digest.String(), referrer, p.load(p.registry)); err != nil {
			return err
		}
		p.Tell("sbom", event.Push, event.Done, string(p.sbom)+" of "+subject.Digest.String())
	}
	return nil
}

// subjectsOf are the image, or the index and each of its images.
func subjectsOf(x oci.ImageOrIndex) ([]v1.Descriptor, error) {
	own, err := partial.Descriptor(x)
	if err != nil {
		return nil, err
	}
	all := []v1.Descriptor{*own}
	if index, ok := x.(v1.ImageIndex); ok {
		m, err := index.IndexManifest()
		if err != nil {
			return nil, err
		}
		all = append(m.Manifests, all...)
	}
	return all, nil
}
