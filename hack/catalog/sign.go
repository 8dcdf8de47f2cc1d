package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/winbake/winbake/internal/atomicfs"
	"github.com/winbake/winbake/internal/attest"
	"github.com/winbake/winbake/internal/catalog/signed"
	"github.com/winbake/winbake/internal/ociimage"
)

func signCommand(f *flag.FlagSet) func(context.Context, []string, io.Writer) error {
	data := f.String("data", dataDir, "folder of the catalog's data, or a whole catalog in a file")
	keyFile := f.String("key", "", "private key, Ed25519 or ECDSA P-256 in PEM (PKCS #8)")
	out := f.String("out", signed.FileName, "file to write")
	days := f.Int("days", 90, "days after which nobody should take it up")
	push := f.String("push", "", "registry reference to push to, too: REGISTRY/REPOSITORY:TAG")
	plainHTTP := f.Bool("plain-http", false, "talk plain http to the registry")
	return func(ctx context.Context, args []string, w io.Writer) error {
		if *keyFile == "" || len(args) > 0 {
			return fmt.Errorf("sign -key FILE: openssl genpkey -algorithm ed25519 -out FILE makes one")
		}
		pem, err := os.ReadFile(*keyFile)
		if err != nil {
			return err
		}
		key, err := attest.ParseKey(pem)
		if err != nil {
			return fmt.Errorf("%s: %w", *keyFile, err)
		}
		c, err := load(*data)
		if err != nil {
			return err
		}
		made := time.Now().Truncate(time.Second)
		envelope, err := signed.Make(ctx, c, made, made.AddDate(0, 0, *days), key)
		if err != nil {
			return err
		}
		if err := atomicfs.WriteFile(*out, envelope); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: the catalog of %s, signed by %s\n", *out, c.AsOf, key.ID())
		if *push == "" {
			return nil
		}
		img, err := signed.Artifact(envelope)
		if err != nil {
			return err
		}
		ref, err := ociimage.Push(ctx, *push, img, ociimage.Options{Keychain: authn.DefaultKeychain, UserAgent: "winbake", Insecure: *plainHTTP})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, "oci://"+ref)
		return err
	}
}
