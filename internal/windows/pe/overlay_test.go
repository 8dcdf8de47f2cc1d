package pe_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	stdpe "debug/pe"
	"encoding/binary"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestOverlay(t *testing.T) {
	tail := make([]byte, 1000)
	for _, tt := range []struct {
		name   string
		change func(*synth)
		want   int64
	}{
		{"none", func(*synth) {}, 0},
		{"appended", func(s *synth) { s.tail = tail }, 1000},
		{"appended and claimed as headers", func(s *synth) { s.tail, s.opt.SizeOfHeaders = tail, 0x600+1000 }, 1000},
		{"claimed as certificates", func(s *synth) {
			s.tail = tail
			s.opt.DataDirectory[4] = stdpe.DataDirectory{VirtualAddress: 0x630, Size: 999}
		}, 0},
		{"behind the certificates", func(s *synth) {
			s.tail = tail
			s.opt.DataDirectory[4] = stdpe.DataDirectory{VirtualAddress: 0x630, Size: 16}
		}, 1000 + synthSymbols + 18 + 29 - 0x640},
		{"between the sections", func(s *synth) { s.sections[0].PointerToRawData, s.sections[0].SizeOfRawData = 0x500, 0x100 }, 0x100},
		{"sections that overlap", func(s *synth) {
			s.sections[1].PointerToRawData, s.sections[1].SizeOfRawData = 0x480, 0x100
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSynth()
			tt.change(s)
			f := read(t, s.bytes(t))
			if f.Overlay != tt.want {
				t.Errorf("overlay %d, want %d", f.Overlay, tt.want)
			}
		})
	}
}

func TestOverlayOfRealProgram(t *testing.T) {
	for name, target := range map[string]target{"with symbols": stamped, "stripped": stripped, "debug": debug} {
		t.Run(name, func(t *testing.T) {
			exe := append(build(t, target), "PK\x03\x04 a stowaway"...)
			if f := read(t, exe); f.Overlay != 15 || f.Build == nil {
				t.Errorf("overlay %d, build %v; want 15 bytes behind a Go program", f.Overlay, f.Build)
			}
		})
	}
	t.Run("between headers and sections", func(t *testing.T) {
		exe := insert(build(t, stripped), 512)
		if f := read(t, exe); f.Overlay != 512 || f.Build == nil {
			t.Errorf("overlay %d, build %v; want 512 bytes in a Go program", f.Overlay, f.Build)
		}
	})
}

// insert puts n bytes before the first section and moves everything that is
// behind them, as one would who hides something in a program that must run.
func insert(exe []byte, n uint32) []byte {
	le := binary.LittleEndian
	move := func(at uint32) { le.PutUint32(exe[at:], le.Uint32(exe[at:])+n) }
	coff := le.Uint32(exe[60:]) + 4
	move(coff + 8)
	table := coff + 20 + uint32(le.Uint16(exe[coff+16:]))
	first := le.Uint32(exe[table+20:])
	for i := range uint32(le.Uint16(exe[coff+2:])) {
		move(table + i*40 + 20)
	}
	return slices.Insert(exe, int(first), make([]byte, n)...)
}

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
