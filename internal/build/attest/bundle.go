package attest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// BundleType is a Sigstore bundle's media type, a referrer's artifactType.
const BundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// MaxSize is far above the largest bundle, a provenance of 2 MB, in bytes.
const MaxSize = 32 << 20

// The predicates that are written here. SignPredicate says that an image is signed
// (cosign 3, pkg/types/predicate.go).
const (
	SignPredicate       = "https://sigstore.dev/cosign/sign/v1"
	ProvenancePredicate = "https://slsa.dev/provenance/v1"
)

const (
	statementType = "https://in-toto.io/Statement/v1"
	payloadType   = "application/vnd.in-toto+json"
)

// Statement is in-toto's, version 1: https://github.com/in-toto/attestation/tree/main/spec/v1
type Statement struct {
	Type          string          `json:"_type"`
	Subject       []Subject       `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

// Subject is what a statement is about.
type Subject struct {
	Name   string            `json:"name,omitempty"`
	Digest map[string]string `json:"digest"` // {"sha256": hex}
}

// bundle is what is used of protobuf-specs' sigstore_bundle.proto.
type bundle struct {
	MediaType            string        `json:"mediaType"`
	VerificationMaterial material      `json:"verificationMaterial"`
	Envelope             dsse.Envelope `json:"dsseEnvelope"`
}

type material struct {
	PublicKey *publicKey `json:"publicKey,omitempty"`
}

type publicKey struct {
	Hint string `json:"hint,omitempty"`
}

// Annotations are those of a bundle's referrer, as cosign writes them.
func Annotations(predicateType string) map[string]string {
	return map[string]string{"dev.sigstore.bundle.content": "dsse-envelope", "dev.sigstore.bundle.predicateType": predicateType}
}

// SignStatement makes a bundle that says predicate of the image with a digest, in hex.
func (k *Key) SignStatement(ctx context.Context, sha256, predicateType string, predicate any) ([]byte, error) {
	data, err := json.Marshal(predicate)
	if err != nil {
		return nil, err
	}
	statement, err := json.Marshal(Statement{statementType, []Subject{{Digest: map[string]string{"sha256": sha256}}}, predicateType, data})
	if err != nil {
		return nil, err
	}
	signer, err := dsse.NewEnvelopeSigner(k)
	if err != nil {
		return nil, err
	}
	envelope, err := signer.SignPayload(ctx, payloadType, statement)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return json.Marshal(bundle{BundleType, material{&publicKey{k.Hint()}}, *envelope})
}

// ErrOtherKey is for a bundle that another key signed, as it says itself.
var ErrOtherKey = errors.New("another key's")

// Open returns the statement of a bundle that k has signed.
func (k *Key) Open(ctx context.Context, data []byte) (*Statement, error) {
	var b bundle
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("it isn't a bundle: %w", err)
	}
	if b.Envelope.PayloadType != payloadType {
		return nil, fmt.Errorf("its envelope has %q, not %s", b.Envelope.PayloadType, payloadType)
	}
	if h := b.VerificationMaterial.PublicKey; h == nil || h.Hint != "" && h.Hint != k.Hint() {
		return nil, ErrOtherKey
	}
	verifier, err := dsse.NewEnvelopeVerifier(k)
	if err != nil {
		return nil, err
	}
	_, payload, err := verifier.VerifyAndDecode(ctx, &b.Envelope)
	if err != nil {
		return nil, errors.New("its signature isn't this key's")
	}
	var s Statement
	if err := json.Unmarshal(payload, &s); err != nil || s.Type != statementType {
		return nil, errors.New("what it signs isn't an in-toto statement")
	}
	return &s, nil
}

// Of tells whether the statement is about the image with a digest, in hex.
func (s *Statement) Of(sha256 string) bool {
	for _, subject := range s.Subject {
		if subject.Digest["sha256"] == sha256 {
			return true
		}
	}
	return false
}
