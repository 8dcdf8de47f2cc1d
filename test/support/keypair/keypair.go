// Package keypair makes the keys that tests sign with.
package keypair

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
)

// Write writes a new pair of Ed25519 keys into two files, as openssl genpkey does.
func Write(private, public string) error {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	pkix, errPublic := x509.MarshalPKIXPublicKey(pub)
	return errors.Join(err, errPublic,
		os.WriteFile(private, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600),
		os.WriteFile(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pkix}), 0o600))
}
