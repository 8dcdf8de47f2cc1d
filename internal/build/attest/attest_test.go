package attest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/sbom"
)

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// writeKey writes a key pair and returns the files' names.
func writeKey(t *testing.T, private any, public any, password string) (string, string) {
	t.Helper()
	dir := t.TempDir()
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	kind := "PRIVATE KEY"
	if password != "" {
		kind = "ENCRYPTED SIGSTORE PRIVATE KEY"
		if der, err = encrypted.Encrypt(der, []byte(password)); err != nil {
			t.Fatal(err)
		}
	}
	pkix, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	key, pub := filepath.Join(dir, "k.key"), filepath.Join(dir, "k.pub")
	for file, block := range map[string]*pem.Block{key: {Type: kind, Bytes: der}, pub: {Type: "PUBLIC KEY", Bytes: pkix}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return key, pub
}

func pair(t *testing.T) (private, public *Key) {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keyFile, pubFile := writeKey(t, priv, pub, "")
	if private, err = LoadPrivate(keyFile); err != nil {
		t.Fatal(err)
	}
	if public, err = LoadPublic(pubFile); err != nil {
		t.Fatal(err)
	}
	return private, public
}

func TestKeys(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(PasswordEnv, "s3cret")
	for _, password := range []string{"", "s3cret"} {
		keyFile, pubFile := writeKey(t, ec, &ec.PublicKey, password)
		private, err := LoadPrivate(keyFile)
		if err != nil {
			t.Fatal(err)
		}
		public, err := LoadPublic(pubFile)
		if err != nil {
			t.Fatal(err)
		}
		data, err := private.SignStatement(t.Context(), digest, SignPredicate, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := public.Open(t.Context(), data)
		if err != nil || !s.Of(digest) || s.Of("f"+digest[1:]) || s.PredicateType != SignPredicate || private.Hint() != public.Hint() {
			t.Errorf("%+v, %v", s, err)
		}
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	encryptedKey, _ := writeKey(t, ec, &ec.PublicKey, "another")
	other, otherPub := writeKey(t, p384, &p384.PublicKey, "")
	rsaKey, _ := writeKey(t, long, &long.PublicKey, "")
	world, _ := writeKey(t, ec, &ec.PublicKey, "")
	if err := os.Chmod(world, 0o644); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, says := range map[string]string{encryptedKey: "can't be decrypted", other: "another curve", rsaKey: "type *rsa.PublicKey", world: "everybody on this machine can read",
		otherPub: "is no private key", text: "isn't PEM", text + "no": "no such file"} {
		if _, err := LoadPrivate(file); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
	}
	for file, says := range map[string]string{rsaKey: "is no public key", otherPub: "another curve"} {
		if _, err := LoadPublic(file); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
	}
}

// No byte of a bundle can be changed so that another statement is believed.
func TestChangedBundle(t *testing.T) {
	private, public := pair(t)
	data, err := private.SignStatement(t.Context(), digest, SignPredicate, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	var b bundle
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	signed, err := base64.StdEncoding.DecodeString(b.Envelope.Payload)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		for _, bit := range []byte{1, 2, 32} {
			changed := bytes.Clone(data)
			changed[i] ^= bit
			s, err := public.Open(t.Context(), changed)
			if err != nil {
				continue
			}
			if again, err := json.Marshal(s); err != nil || !bytes.Equal(again, signed) {
				t.Errorf("byte %d: %s", i, again)
			}
		}
	}
	_, stranger := pair(t)
	if _, err := stranger.Open(t.Context(), data); !errors.Is(err, ErrOtherKey) {
		t.Errorf("another key: %v", err)
	}
	if _, err := stranger.Open(t.Context(), bytes.Replace(data, []byte(public.Hint()), []byte(stranger.Hint()), 1)); err == nil || errors.Is(err, ErrOtherKey) {
		t.Errorf("another key's hint: %v", err)
	}
	if _, err := public.SignStatement(t.Context(), digest, SignPredicate, struct{}{}); err == nil {
		t.Error("a public key signs")
	}
	for _, bad := range []string{"", "{}", "[]", `{"dsseEnvelope":{"payloadType":"text/plain"}}`} {
		if _, err := public.Open(t.Context(), []byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestProvenance(t *testing.T) {
	p := NewProvenance("https://ci.example/1", Parameters{Versions: "release: x"}, "sha256:"+digest, []sbom.Built{
		{Component: &pins.Component{Name: "a", Module: "example.com/A"}, Locked: &pins.Locked{Toolchain: "go1.26.8", ToolchainSums: []string{"linux-amd64 h1:go="}, Modules: []pins.LockedModule{
			{Path: "example.com/A", Version: "v1.0.0", Sum: "h1:a="}, {Path: "example.com/old", Version: "v1.0.0", Sum: "h1:new=", Replace: &pins.ModuleVersion{Path: "example.com/new", Version: "v2.0.0"}}, {Path: "vendored", Version: "v1.0.0"}}}},
		{Component: &pins.Component{Name: "b"}, Locked: &pins.Locked{Git: "https://example.com/b", Commit: "c0ffee", Modules: []pins.LockedModule{{Path: "example.com/A", Version: "v1.0.0", Sum: "h1:a="}}}},
		{Component: &pins.Component{Name: "f", File: "x.conf"}, Locked: &pins.Locked{SHA256: digest}},
	})
	var uris []string
	for _, d := range p.BuildDefinition.ResolvedDependencies {
		uris = append(uris, d.URI)
	}
	want := "pkg:oci/base@sha256%3A" + digest + " pkg:golang/golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64 pkg:golang/example.com/a@v1.0.0 pkg:golang/example.com/new@v2.0.0 git+https://example.com/b@c0ffee x.conf"
	if got := strings.Join(uris, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzOpen(f *testing.F) {
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	key, err := newKey("key", pub)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"mediaType":"x","verificationMaterial":{"publicKey":{}},"dsseEnvelope":{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[{"sig":"AA=="}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := key.Open(t.Context(), data); err == nil {
			t.Errorf("nobody signed it: %+v", s)
		}
	})
}
