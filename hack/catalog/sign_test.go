package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/catalog/signed"
)

// What is signed and pushed is what verify catalog update takes.
func TestSignAndPush(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write(t, at("key.pem"), "PRIVATE KEY", der)
	if der, err = x509.MarshalPKIXPublicKey(public); err != nil {
		t.Fatal(err)
	}
	write(t, at("key.pub"), "PUBLIC KEY", der)

	var out bytes.Buffer
	ref := strings.TrimPrefix(server.URL, "http://") + "/me/catalog:latest"
	if err := execute(t.Context(), []string{"sign", "-key", at("key.pem"), "-out", at("catalog.json"), "-push", ref, "-days", "30"}, &out); err != nil {
		t.Fatal(err)
	}
	_, pushed, _ := strings.Cut(out.String(), "oci://")
	pushed, _, _ = strings.Cut("oci://"+pushed, "\n")
	for _, from := range []string{at("catalog.json"), dir, "oci://" + ref, pushed} {
		e, path, err := signed.Update(t.Context(), signed.Options{From: from, KeyFile: at("key.pub"), Now: time.Now()})
		if err != nil {
			t.Errorf("update from %s: %v", from, err)
			continue
		}
		if e.AsOf != catalog.BuiltIn() || e.Expires.Sub(e.Made) != 30*24*time.Hour {
			t.Errorf("from %s: %s, %s to %s", from, e.AsOf, e.Made, e.Expires)
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
	for name, args := range map[string][]string{
		"a public key": {"sign", "-key", at("key.pub"), "-out", at("new.json")},
		"no key":       {"sign", "-key", at("none"), "-out", at("new.json")},
		"another file": {"sign", "-key", at("catalog.json"), "-out", at("new.json")},
		"no data":      {"sign", "-key", at("key.pem"), "-out", at("new.json"), "-data", at("none")},
		"no reference": {"sign", "-key", at("key.pem"), "-out", at("out.json"), "-push", "not a reference"},
	} {
		if err := execute(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	if _, err := os.Stat(at("new.json")); err == nil {
		t.Error("an error has left new.json")
	}
}

func write(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
