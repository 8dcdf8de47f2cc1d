package attest

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/proc"
)

// signerWait is how long a signer may take: some wait for a person's touch.
const signerWait = 2 * time.Minute

// LoadSigner is a key that a program signs with, such as one of a KMS or an HSM. The
// program gets what is to be signed on stdin, and prints the signature, as bytes or in
// base64: ASN.1 over the SHA-256 for ECDSA, 64 bytes for Ed25519. public is the file of
// the public key.
func LoadSigner(command, public string) (*Key, error) {
	k, err := LoadPublic(public)
	if err == nil {
		k.signer, k.wait = strings.Fields(command), signerWait
	}
	return k, err
}

// ask has the signer sign, and checks its answer: a push doesn't begin with a signature
// that nobody can verify.
func (k *Key) ask(ctx context.Context, data []byte) ([]byte, error) {
	failed := func(what, excerpt string, err error) error {
		return &fault.Error{Where: "--signer " + strings.Join(k.signer, " "), What: what, Excerpt: excerpt, Err: err,
			Fix: "it gets what is to be signed on stdin, and prints the signature, as openssl dgst -sha256 -sign KEY does"}
	}
	limited, cancel := context.WithTimeout(ctx, k.wait)
	defer cancel()
	cmd := proc.Command(limited, k.signer[0], k.signer[1:]...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(data), &stderr
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case limited.Err() != nil:
		return nil, failed(fmt.Sprintf("no signature in %s", k.wait), "", limited.Err())
	case err != nil:
		return nil, failed("the signer fails: "+err.Error(), strings.TrimSpace(stderr.String()), err)
	}
	for _, sig := range [][]byte{out, unbase64(out)} {
		if k.Verify(ctx, data, sig) == nil {
			return sig, nil
		}
	}
	return nil, failed("what it prints is no signature of the public key", "", nil)
}

func unbase64(text []byte) []byte {
	data, _ := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(text))) // else it is none
	return data
}
