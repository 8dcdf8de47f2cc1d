package attest

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
)

const of = "application/vnd.example+json"

// pair is a new key, private and public, in PEM.
func pair(t testing.TB, private crypto.Signer) (priv, pub []byte) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
}

func keys(t testing.TB) map[string]crypto.Signer {
	t.Helper()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]crypto.Signer{"Ed25519": ed, "ECDSA P-256": p256}
}

func mustParse(t testing.TB, pem []byte) *Key {
	t.Helper()
	k, err := ParseKey(pem)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSignAndVerify(t *testing.T) {
	for name, signer := range keys(t) {
		t.Run(name, func(t *testing.T) {
			priv, pub := pair(t, signer)
			private, public := mustParse(t, priv), mustParse(t, pub)
			if !private.Private() || public.Private() || private.ID() != public.ID() {
				t.Errorf("private %v, %v; ids %s and %s", private.Private(), public.Private(), private.ID(), public.ID())
			}
			envelope, err := Sign(t.Context(), private, of, []byte("payload"))
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []*Key{private, public} {
				if got, err := Verify(t.Context(), envelope, of, k); err != nil || string(got) != "payload" {
					t.Errorf("verified %q, %v", got, err)
				}
			}
			if _, err := Sign(t.Context(), public, of, nil); err == nil {
				t.Error("a public key signs")
			}
			otherwise(t, signer, envelope)
			refuses(t, envelope, public)
		})
	}
}

// otherwise verifies the signature without the library: over PAE as the
// specification has it.
func otherwise(t *testing.T, signer crypto.Signer, envelope []byte) {
	t.Helper()
	var e struct {
		Payload    string
		Signatures []struct{ Sig string }
	}
	if err := json.Unmarshal(envelope, &e); err != nil || len(e.Signatures) != 1 {
		t.Fatalf("%s: %v", envelope, err)
	}
	sig, err := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
	if err != nil {
		t.Fatal(err)
	}
	pae := []byte("DSSEv1 28 application/vnd.example+json 7 payload")
	ok := false
	switch public := signer.Public().(type) {
	case ed25519.PublicKey:
		ok = ed25519.Verify(public, pae, sig)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(pae)
		ok = ecdsa.VerifyASN1(public, sum[:], sig)
	}
	if !ok {
		t.Errorf("the signature of %s isn't over %s", envelope, pae)
	}
}

// refuses changes the envelope in each way that matters.
func refuses(t *testing.T, envelope []byte, public *Key) {
	t.Helper()
	_, other := pair(t, keys(t)["Ed25519"])
	payload := base64.StdEncoding.EncodeToString([]byte("payload"))
	change := func(old, with string) []byte {
		if !bytes.Contains(envelope, []byte(old)) {
			t.Fatalf("%s has no %s", envelope, old)
		}
		return bytes.Replace(envelope, []byte(old), []byte(with), 1)
	}
	for name, c := range map[string]struct {
		envelope []byte
		key      *Key
		of       string
		want     error
	}{
		"another payload":       {change(payload, base64.StdEncoding.EncodeToString([]byte("Payload"))), public, of, ErrForged},
		"another type, renamed": {change(of, "text/x"), public, "text/x", ErrForged},
		"another type":          {envelope, public, "text/x", ErrEnvelope},
		"another key":           {envelope, mustParse(t, other), of, ErrOtherKey},
		"another key, renamed":  {change(public.ID(), mustParse(t, other).ID()), mustParse(t, other), of, ErrForged},
		"another key, unnamed":  {change(public.ID(), ""), mustParse(t, other), of, ErrForged},
		"half of it":            {envelope[:len(envelope)/2], public, of, ErrEnvelope},
		"two of them":           {append(bytes.Clone(envelope), envelope...), public, of, ErrEnvelope},
		"no JSON":               {[]byte("apiVersion: x"), public, of, ErrEnvelope},
		"nothing":               {nil, public, of, ErrEnvelope},
		"no signature":          {[]byte(`{"payloadType":"` + of + `","payload":"` + payload + `","signatures":[]}`), public, of, ErrOtherKey},
		"payload isn't base64":  {change(payload, "%%%"), public, of, ErrForged},
	} {
		if got, err := Verify(t.Context(), c.envelope, c.of, c.key); !errors.Is(err, c.want) || got != nil {
			t.Errorf("%s: %q, %v; want %v", name, got, err, c.want)
		}
	}
	// A signature without a key's name may be of any.
	if got, err := Verify(t.Context(), change(public.ID(), ""), of, public); err != nil || string(got) != "payload" {
		t.Errorf("without a key's name: %q, %v", got, err)
	}
}

func TestParseKeyRefuses(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	old, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, onP384 := pair(t, p384)
	_, ofRSA := pair(t, old)
	for name, c := range map[string]struct {
		pem  []byte
		want string
	}{
		"another curve": {onP384, "on another curve"}, "RSA": {ofRSA, "an RSA key"}, "no PEM": {[]byte("key"), "PEM"}, "nothing": {nil, "PEM"},
		"a certificate": {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}), "PEM"},
	} {
		if k, err := ParseKey(c.pem); !errors.Is(err, ErrKey) || k != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzVerify looks for an envelope that passes though it isn't the one that was
// signed, and for one that ends the program.
func FuzzVerify(f *testing.F) {
	priv, _ := pair(f, keys(f)["Ed25519"])
	key := mustParse(f, priv)
	envelope, err := Sign(f.Context(), key, of, []byte("payload"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(envelope)
	f.Add([]byte(`{"payloadType":"` + of + `","payload":"cGF5bG9hZA==","signatures":[{"sig":""},{"keyid":"x","sig":"eA=="}]}`))
	f.Add([]byte(`{"signatures":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := Verify(t.Context(), data, of, key); err == nil && string(got) != "payload" {
			t.Errorf("%s passes with %q", data, got)
		}
	})
}
