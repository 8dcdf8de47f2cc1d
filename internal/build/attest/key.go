// Package attest signs what is said of an image as cosign does, in a DSSE envelope in a
// Sigstore bundle, and checks such bundles against a key. It knows keys in files, and programs that sign:
// keyless signing is cosign's own.
package attest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
)

// PasswordEnv has the password of an encrypted key, as cosign reads it.
const PasswordEnv = "COSIGN_PASSWORD"

// Key signs and verifies, or verifies alone: it has neither private nor signer then.
type Key struct {
	public  crypto.PublicKey
	private crypto.Signer
	signer  []string      // a program that signs, and its arguments
	wait    time.Duration // for it
	der     []byte
}

// Hint is what a bundle names its key by, as cosign does.
func (k *Key) Hint() string {
	sum := sha256.Sum256(k.der)
	return base64.StdEncoding.EncodeToString(sum[:])
}

func keyFault(path, what, fix string) error { return &fault.Error{Where: path, What: what, Fix: fix} }

const keyForms = "give an ECDSA P-256 or Ed25519 key: cosign generate-key-pair, or openssl genpkey -algorithm ed25519"

// LoadPrivate reads a private key: PKCS #8, or encrypted as cosign writes it.
func LoadPrivate(path string) (*Key, error) {
	block, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o004 != 0 {
		return nil, keyFault(path, "everybody on this machine can read the private key", "chmod 600 "+shell.Word(path))
	}
	der := block.Bytes
	switch block.Type {
	case "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY":
		if der, err = encrypted.Decrypt(der, []byte(os.Getenv(PasswordEnv))); err != nil {
			return nil, keyFault(path, "the key can't be decrypted", "set "+PasswordEnv+" to its password")
		}
	case "PRIVATE KEY":
	default:
		return nil, keyFault(path, fmt.Sprintf("a PEM %q is no private key that is known here", block.Type), keyForms)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, keyFault(path, "the private key can't be read: "+err.Error(), keyForms)
	}
	private, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, keyFault(path, "the key can't sign", keyForms)
	}
	k, err := newKey(path, private.Public())
	if err == nil {
		k.private = private
	}
	return k, err
}

// LoadPublic reads a public key.
func LoadPublic(path string) (*Key, error) {
	block, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	if block.Type != "PUBLIC KEY" {
		return nil, keyFault(path, fmt.Sprintf("a PEM %q is no public key", block.Type), "give the public key: cosign.pub, or openssl pkey -in KEY -pubout")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, keyFault(path, "the public key can't be read: "+err.Error(), keyForms)
	}
	return newKey(path, public)
}

func readPEM(path string) (*pem.Block, error) {
	data, err := infile.Read(path, infile.Text)
	if err != nil {
		return nil, keyFault(path, "the key can't be read: "+infile.Cause(err), "cosign generate-key-pair makes cosign.key and cosign.pub")
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, keyFault(path, "it isn't PEM", keyForms)
	}
	return block, nil
}

func newKey(path string, public crypto.PublicKey) (*Key, error) {
	switch p := public.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if p.Curve != elliptic.P256() {
			return nil, keyFault(path, "an ECDSA key of another curve than P-256", keyForms)
		}
	default:
		return nil, keyFault(path, fmt.Sprintf("a key of type %T", public), keyForms)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	return &Key{public: public, der: der}, err
}

// Sign signs. With Verify, KeyID and Public it is package dsse's interface.
func (k *Key) Sign(ctx context.Context, data []byte) ([]byte, error) {
	if k.signer != nil {
		return k.ask(ctx, data)
	}
	if k.private == nil {
		return nil, errors.New("a public key doesn't sign")
	}
	if _, ok := k.public.(ed25519.PublicKey); ok {
		return k.private.Sign(nil, data, crypto.Hash(0))
	}
	sum := sha256.Sum256(data)
	return k.private.Sign(rand.Reader, sum[:], crypto.SHA256)
}

// Verify checks a signature.
func (k *Key) Verify(_ context.Context, data, sig []byte) error {
	valid := false
	switch p := k.public.(type) {
	case ed25519.PublicKey:
		valid = ed25519.Verify(p, data, sig)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(data)
		valid = ecdsa.VerifyASN1(p, sum[:], sig)
	}
	if !valid {
		return errors.New("the signature isn't this key's")
	}
	return nil
}

// KeyID is empty: a bundle has the hint.
func (k *Key) KeyID() (string, error) { return "", nil }

// Public is the public key.
func (k *Key) Public() crypto.PublicKey { return k.public }
