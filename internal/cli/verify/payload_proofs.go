package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/build/attest"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload/verify"
)

const (
	idSignature  = "payload.signature"
	idProvenance = "payload.provenance"
)

// proofOptions are what must be proved, and by which key.
type proofOptions struct {
	require []string
	keyFile string
	key     *attest.Key // of keyFile, nil for none
}

// load refuses what can't be asked, and reads the key.
func (o *proofOptions) load() (err error) {
	known := []string{requireSBOM, requireSignature, requireProvenance}
	for _, what := range o.require {
		if !slices.Contains(known, what) {
			return &fault.Error{What: fmt.Sprintf("--require can't be %q", what), Fix: "--require sbom,signature,provenance, or some of them"}
		}
		if what != requireSBOM && o.keyFile == "" {
			return &fault.Error{What: "--require " + what + " needs the key that signed it", Fix: "--key cosign.pub"}
		}
	}
	if o.keyFile == "" {
		return nil
	}
	if len(o.require) == 0 {
		o.require = []string{requireSignature}
	}
	o.key, err = attest.LoadPublic(o.keyFile)
	return err
}

func (t *tool) proofs(ctx context.Context, source *oci.Source, load oci.Options, summary verify.Summary, o proofOptions, want *pinned, modules map[string][]string) (fs []finding.Finding, err error) {
	if slices.Contains(o.require, requireSBOM) {
		if fs, err = t.sbomFindings(ctx, source, load, summary, modules); err != nil {
			return nil, err
		}
	}
	if o.key == nil {
		return fs, nil
	}
	if source.Kind != oci.KindRegistry {
		return nil, &fault.Error{Where: source.Ref, What: "only an image in a registry has signatures", Fix: "verify payload REGISTRY/REPOSITORY@sha256:... --key " + o.keyFile}
	}
	repository, err := oci.RepositoryOf(source.Ref)
	if err != nil {
		return nil, err
	}
	bundles, err := oci.Referrers(ctx, repository, source.Digest, attest.BundleType, attest.MaxSize, load)
	if err != nil {
		return nil, err
	}
	statements, bad := open(ctx, o.key, source, bundles)
	fs = append(fs, bad...)
	if slices.Contains(o.require, requireSignature) {
		fs = append(fs, signed(source, statements))
	}
	if slices.Contains(o.require, requireProvenance) {
		fs = append(fs, provenOf(source, statements, want))
	}
	return fs, nil
}

func badProof(id string, source *oci.Source, observed, expected string) finding.Finding {
	return finding.Finding{ID: id, Severity: finding.Block, Object: source.Reference(), Observed: observed, Expected: expected,
		Why: "nothing shows that it is the image that its builder signed", Remedy: "take the image from where it was built, or sign it: bake attest REF --sign-key KEY"}
}

// open returns the statements of bundles that the key signed and that are of the image,
// by predicate type. A bundle that names the key and isn't signed by it is a finding;
// one of another key isn't looked at.
func open(ctx context.Context, key *attest.Key, source *oci.Source, bundles [][]byte) (map[string][]*attest.Statement, []finding.Finding) {
	statements := map[string][]*attest.Statement{}
	var bad []finding.Finding
	for _, data := range bundles {
		s, err := key.Open(ctx, data)
		switch {
		case errors.Is(err, attest.ErrOtherKey):
		case err != nil:
			bad = append(bad, badProof(idSignature, source, "a bundle of the image: "+err.Error(), "no bundle that somebody changed"))
		case !s.Of(source.Digest.Hex):
			bad = append(bad, badProof(idSignature, source, "a bundle that is of another image", "of "+source.Digest.String()))
		default:
			statements[s.PredicateType] = append(statements[s.PredicateType], s)
		}
	}
	return statements, bad
}

func signed(source *oci.Source, statements map[string][]*attest.Statement) finding.Finding {
	if len(statements[attest.SignPredicate]) == 0 {
		return badProof(idSignature, source, "no signature of this key", "a Sigstore bundle, as a referrer of the image")
	}
	return finding.Finding{ID: idSignature, Object: source.Reference(), Observed: "signed by the key"}
}

// provenOf compares provenance with versions.yaml and its lock, where they are given. That
// of another builder, such as Tekton Chains' or GitHub's, doesn't have them.
func provenOf(source *oci.Source, statements map[string][]*attest.Statement, want *pinned) finding.Finding {
	all := statements[attest.ProvenancePredicate]
	if len(all) == 0 {
		return badProof(idProvenance, source, "no provenance that this key signed", "SLSA provenance in a Sigstore bundle, as a referrer of the image")
	}
	var p attest.Provenance
	for _, s := range all {
		var one attest.Provenance
		if err := json.Unmarshal(s.Predicate, &one); err != nil {
			return badProof(idProvenance, source, "it can't be read: "+err.Error(), "SLSA provenance, version 1")
		}
		if p.BuildDefinition.BuildType != attest.BuildType {
			p = one
		}
	}
	ours := p.BuildDefinition.BuildType == attest.BuildType
	observed := fmt.Sprintf("built by %s from %d inputs", p.RunDetails.Builder.ID, len(p.BuildDefinition.ResolvedDependencies))
	if ours && want != nil {
		for path, text := range map[string]string{want.file.Path: p.BuildDefinition.ExternalParameters.Versions, lockFile(want.file): p.BuildDefinition.ExternalParameters.Lock["lock.yaml"]} {
			data, err := os.ReadFile(path)
			if err != nil || string(data) != text {
				return badProof(idProvenance, source, "it was built from another "+path, "the one that was given with -f")
			}
		}
	}
	if !ours {
		observed += ", of the type " + p.BuildDefinition.BuildType + ", which doesn't tell its pins"
	}
	return finding.Finding{ID: idProvenance, Object: source.Reference(), Observed: observed}
}

func lockFile(f *pins.File) string { return f.LockDir() + "/lock.yaml" }
