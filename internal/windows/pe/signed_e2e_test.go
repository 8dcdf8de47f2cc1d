//go:build e2e

package pe_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestSigned(t *testing.T) {
	dir := t.TempDir()
	key, cert := writeCertificate(t, dir)
	plain, signed := filepath.Join(dir, "plain.exe"), filepath.Join(dir, "signed.exe")
	if err := os.WriteFile(plain, build(t, stamped), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "osslsigncode", "sign", "-certs", cert, "-key", key, "-h", "sha256", "-in", plain, "-out", signed)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v (the Debian package osslsigncode is needed): %v\n%s", cmd.Args, err, text)
	}
	exe, err := os.ReadFile(signed)
	if err != nil {
		t.Fatal(err)
	}
	f := read(t, exe)
	plainSum := sha256.Sum256(build(t, stamped))
	if sum, err := f.Unsigned(); err != nil || sum != hex.EncodeToString(plainSum[:]) {
		t.Errorf("without its signature it is %s, not %x: %v", sum, plainSum, err)
	}
	exe[len(exe)/2] ^= 1
	if sum, _ := read(t, exe).Unsigned(); sum == hex.EncodeToString(plainSum[:]) {
		t.Error("a changed program counts as the signed one")
	}
	exe[len(exe)/2] ^= 1
	if f.Overlay != 0 || f.Build == nil {
		t.Errorf("overlay %d, build %v, want a Go program without an overlay", f.Overlay, f.BuildErr)
	}
	if v, err := stringVar(f, "main.version"); v != "v1.2.3" || err != nil {
		t.Errorf("main.version of the signed program = %q, %v", v, err)
	}
	if f := read(t, append(exe, 1, 2, 3)); f.Overlay != 3 {
		t.Errorf("overlay behind the signature = %d, want 3", f.Overlay)
	}
}

// writeCertificate makes a self-signed code signing certificate.
func writeCertificate(t *testing.T, dir string) (key, cert string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return writePEM(t, dir, "PRIVATE KEY", pkcs8), writePEM(t, dir, "CERTIFICATE", der)
}

func writePEM(t *testing.T, dir, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(dir, kind+".pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
