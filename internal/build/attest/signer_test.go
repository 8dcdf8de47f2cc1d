package attest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain: with a mode in the environment this program is a signer.
func TestMain(m *testing.M) {
	mode := os.Getenv("SIGNER")
	if mode == "" {
		os.Exit(m.Run())
	}
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	key, err := LoadPrivate(os.Getenv("SIGNER_KEY"))
	if err != nil {
		panic(err)
	}
	sig, err := key.Sign(context.Background(), data)
	if err != nil {
		panic(err)
	}
	switch mode {
	case "bytes":
		os.Stdout.Write(sig) //nolint:errcheck // the reader sees what is missing
	case "base64":
		fmt.Println(base64.StdEncoding.EncodeToString(sig))
	case "garbage":
		fmt.Println("signed!")
	case "fails":
		fmt.Fprintln(os.Stderr, "no such slot")
		os.Exit(3)
	case "hangs":
		time.Sleep(time.Hour)
	}
}

func TestSigner(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, public := writeKey(t, ec, &ec.PublicKey, "")
	verifier, err := LoadPublic(public)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for mode, says := range map[string]string{
		"bytes": "", "base64": "",
		"garbage": "what it prints is no signature of the public key", "fails": "no such slot", "hangs": "no signature in 10ms", "absent": "the signer fails",
	} {
		t.Setenv("SIGNER", mode)
		t.Setenv("SIGNER_KEY", private)
		command := self
		if mode == "absent" {
			command += ".none"
		}
		k, err := LoadSigner(command+" -slot 1", public)
		if err != nil {
			t.Fatal(err)
		}
		if mode == "hangs" {
			k.wait = 10 * time.Millisecond
		}
		data, err := k.SignStatement(t.Context(), digest, SignPredicate, struct{}{})
		if says != "" {
			if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "--signer "+command+" -slot 1") {
				t.Errorf("%s: %v", mode, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		if s, err := verifier.Open(t.Context(), data); err != nil || !s.Of(digest) {
			t.Errorf("%s: %+v, %v", mode, s, err)
		}
	}
	if _, err := LoadSigner(self, private); err == nil {
		t.Error("a private key is taken for the signer's public one")
	}
}
