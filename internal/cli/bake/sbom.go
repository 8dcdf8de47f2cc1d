package bake

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/attest"
	"github.com/winbake/winbake/internal/build/sbom"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/image/oci"
)

// sbomOf is the SBOM of the image or index with a digest.
func (p *packing) sbomOf(digest string) ([]byte, error) {
	created, err := createdAt(p.jobs)
	if err != nil {
		return nil, err
	}
	base, err := p.baseDigest()
	if err != nil {
		return nil, err
	}
	return p.sbom.Encode(&sbom.Image{Digest: digest, Release: p.file.Release, Created: created, Base: base, Kept: p.kept, Built: p.built()})
}

// baseDigest is "" where there is no base.
func (p *packing) baseDigest() (string, error) {
	if p.base.image == nil {
		return "", nil
	}
	digest, err := p.base.image.Digest()
	return digest.String(), err
}

func (p *packing) built() (all []sbom.Built) {
	for i, j := range p.jobs {
		all = append(all, sbom.Built{Component: j.Component, Locked: j.Locked, SHA256: p.tree.Files[i].SHA256})
	}
	return all
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

// pushProofs pushes an SBOM for each image, and for the index, and what is signed of
// them: before the images, so that none has a tag and no proofs.
func (p *packing) pushProofs(ctx context.Context, to string, x oci.ImageOrIndex) error {
	subjects, err := oci.Subjects(x)
	if err != nil {
		return err
	}
	repository, err := oci.RepositoryOf(to)
	if err != nil {
		return err
	}
	provenance, err := p.provenance()
	if err != nil {
		return err
	}
	for _, subject := range subjects {
		if p.sbom != sbom.None {
			data, err := p.sbomOf(subject.Digest.String())
			if err == nil {
				err = p.pushReferrer(ctx, repository, p.sbom.MediaType(), nil, data, subject, p.registry)
			}
			if err != nil {
				return err
			}
		}
		if p.key == nil {
			continue
		}
		if err := p.pushSigned(ctx, repository, p.key, subject, attest.SignPredicate, struct{}{}, p.registry); err != nil {
			return err
		}
		if provenance != nil {
			if err := p.pushSigned(ctx, repository, p.key, subject, attest.ProvenancePredicate, provenance, p.registry); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tool) pushSigned(ctx context.Context, repository string, key *attest.Key, subject v1.Descriptor, predicateType string, predicate any, r app.Registry) error {
	data, err := key.SignStatement(ctx, subject.Digest.Hex, predicateType, predicate)
	if err != nil {
		return err
	}
	return t.pushReferrer(ctx, repository, attest.BundleType, attest.Annotations(predicateType), data, subject, r)
}

func (t *tool) pushReferrer(ctx context.Context, repository, kind string, annotations map[string]string, data []byte, subject v1.Descriptor, r app.Registry) error {
	referrer, err := oci.NewReferrer(kind, annotations, data, subject)
	if err != nil {
		return err
	}
	digest, err := referrer.Digest()
	if err != nil {
		return err
	}
	if _, err := oci.Push(ctx, repository+"@"+digest.String(), referrer, r.Options(t.App)); err != nil {
		return err
	}
	t.Tell(repository, event.Push, event.Done, cmp.Or(annotations["dev.sigstore.bundle.predicateType"], kind)+" of "+subject.Digest.String())
	return nil
}

// provenance has the pins and their lock as they are on disk, and the flags that decide
// the image; it is nil where no builder is named.
func (p *packing) provenance() (*attest.Provenance, error) {
	if p.builderID == "" {
		return nil, nil
	}
	parameters, err := attest.ReadParameters(p.file)
	if err != nil {
		return nil, err
	}
	for name, values := range map[string][]string{
		"only": p.only, "format": {p.format}, "compression": {p.compression}, "with-verify": {strconv.FormatBool(p.withVerify)}, "base": {p.imageOptions.base},
		"replace-payload": {strconv.FormatBool(p.replace)}, "platform": {p.platform}, "accept": p.accept, "SOURCE_DATE_EPOCH": {sourceDateEpoch()},
		"label": pairs(p.labels), "annotation": pairs(p.annotations),
	} {
		if len(values) > 0 && values[0] != "" && values[0] != "false" { // attest.Options has each name
			parameters.Options[name] = values
		}
	}
	base, err := p.baseDigest()
	return attest.NewProvenance(p.builderID, parameters, base, p.built()), err
}

// pairs are key=value.
func pairs(of map[string]string) (list []string) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		list = append(list, key+"="+of[key])
	}
	return list
}

// signOptions say who signs.
type signOptions struct{ key, signer string }

func (o *signOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.key, "sign-key", "", "sign the pushed image with this private key, as PEM: ECDSA P-256 or Ed25519")
	f.StringVar(&o.signer, "signer", "", "have this program sign what it gets on stdin, such as one of a KMS; --sign-key is its public key then")
}

// load is nil where nobody signs.
func (o *signOptions) load() (*attest.Key, error) {
	switch {
	case o.signer != "" && o.key == "":
		return nil, &fault.Error{What: "nobody knows the public key of --signer", Fix: "--sign-key cosign.pub"}
	case o.signer != "":
		return attest.LoadSigner(o.signer, o.key)
	case o.key != "":
		return attest.LoadPrivate(o.key)
	}
	return nil, nil
}

// newAttest signs an image that is in a registry.
func newAttest(t *tool) *cobra.Command {
	var registry app.Registry
	var sign signOptions
	attested := func(ctx context.Context, args []string) (madeImage, error) {
		key, err := sign.load()
		if key == nil && err == nil {
			err = &fault.Error{What: "no key to sign with", Fix: "--sign-key cosign.key"}
		}
		if err != nil {
			return madeImage{}, err
		}
		source, err := oci.Load(ctx, args[0], registry.Options(t.App))
		if err != nil {
			return madeImage{}, err
		}
		defer source.Close() //nolint:errcheck // it was only read
		if source.Kind != oci.KindRegistry {
			return madeImage{}, &fault.Error{Where: args[0], What: "only an image in a registry can have referrers", Fix: "bake attest REGISTRY/REPOSITORY@sha256:..."}
		}
		repository, err := oci.RepositoryOf(args[0])
		if err != nil {
			return madeImage{}, err
		}
		subject, err := source.Descriptor()
		if err == nil {
			err = t.pushSigned(ctx, repository, key, *subject, attest.SignPredicate, struct{}{}, registry)
		}
		if err != nil {
			return madeImage{}, err
		}
		return madeImage{source.Reference(), source.Digest.String()}, nil
	}
	cmd := app.Answer(t.App, "PayloadImage", &cobra.Command{Use: "attest REF", Args: cobra.ExactArgs(1)}, attested, func(m madeImage) [][]string { return [][]string{{m.Reference}} })
	sign.register(cmd.Flags())
	registry.Register(cmd.Flags(), "the registry")
	return cmd
}
