// Package attest signs and verifies DSSE envelopes with Ed25519 and ECDSA P-256
// (https://github.com/secure-systems-lab/dsse). It knows no payload type: what is
// signed, and how old it may be, is the caller's.
package attest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/secure-systems-lab/go-securesystemslib/signerverifier"
)

// Errors of Verify and ParseKey; others may wrap them.
var (
	// ErrEnvelope: the bytes are no DSSE envelope of the wanted type.
	ErrEnvelope = errors.New("not a signed envelope")
	// ErrOtherKey: no signature says that it is of the key.
	ErrOtherKey = errors.New("signed with another key")
	// ErrForged: the signature of the key doesn't fit what was signed.
	ErrForged = errors.New("changed after it was signed")
	// ErrKey: no key, or one of another kind.
	ErrKey = errors.New("not an Ed25519 or ECDSA P-256 key in PEM")
)

// MediaType is an envelope's: https://www.iana.org/assignments/media-types.
const MediaType = "application/vnd.dsse.envelope.v1+json"

// Key verifies, and signs if it is a private one.
type Key struct {
	dsse.SignerVerifier
	private bool
}

// ParseKey reads a public key (PKIX, "PUBLIC KEY") or a private one (PKCS #8,
// "PRIVATE KEY") in PEM.
func ParseKey(pem []byte) (*Key, error) {
	loaded, err := signerverifier.LoadKey(pem)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	k := &Key{private: loaded.KeyVal.Private != ""}
	switch loaded.KeyType {
	case signerverifier.ED25519KeyType:
		k.SignerVerifier, err = signerverifier.NewED25519SignerVerifierFromSSLibKey(loaded)
	case signerverifier.ECDSAKeyType:
		k.SignerVerifier, err = signerverifier.NewECDSASignerVerifierFromSSLibKey(loaded)
	default:
		return nil, fmt.Errorf("%w: it is an %s key", ErrKey, strings.ToUpper(loaded.KeyType))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if !usable(k.Public()) {
		return nil, fmt.Errorf("%w: it is on another curve", ErrKey)
	}
	return k, nil
}

func usable(public crypto.PublicKey) bool {
	switch p := public.(type) {
	case ed25519.PublicKey:
		return len(p) == ed25519.PublicKeySize
	case *ecdsa.PublicKey:
		return p.Curve == elliptic.P256()
	}
	return false
}

// Private tells whether the key can sign.
func (k *Key) Private() bool { return k.private }

// ID names the key in envelopes and messages: it is made of the public key.
func (k *Key) ID() string {
	id, _ := k.KeyID() // set when the key was read
	return id
}

// Sign returns the envelope, as JSON, of a payload.
func Sign(ctx context.Context, k *Key, payloadType string, payload []byte) ([]byte, error) {
	signer, err := dsse.NewEnvelopeSigner(k)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	e, err := signer.SignPayload(ctx, payloadType, payload)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return json.Marshal(e)
}

// Verify returns the payload of an envelope that the key has signed. Its errors wrap
// ErrEnvelope, ErrOtherKey or ErrForged.
func Verify(ctx context.Context, envelope []byte, payloadType string, k *Key) ([]byte, error) {
	var e dsse.Envelope
	if err := json.Unmarshal(envelope, &e); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEnvelope, err)
	}
	if e.PayloadType != payloadType {
		return nil, fmt.Errorf("%w of %s: its type is %q", ErrEnvelope, payloadType, e.PayloadType)
	}
	verifier, err := dsse.NewEnvelopeVerifier(k)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	_, payload, err := verifier.VerifyAndDecode(ctx, &e)
	if err == nil {
		return payload, nil
	}
	for _, s := range e.Signatures {
		if s.KeyID == "" || s.KeyID == k.ID() {
			return nil, fmt.Errorf("%w: %w", ErrForged, err)
		}
	}
	return nil, fmt.Errorf("%w than %s", ErrOtherKey, k.ID())
}
