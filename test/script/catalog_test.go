package script

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/winbake/winbake/internal/attest"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/catalog/signed"
	"github.com/winbake/winbake/internal/image/oci"
)

// keyPair writes NAME.pem and NAME.pub: keys NAME.
func keyPair(ts *testscript.TestScript, _ bool, args []string) {
	public, private, err := ed25519.GenerateKey(nil)
	ts.Check(err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	der, err = x509.MarshalPKIXPublicKey(public)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pub"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600))
}

// signCatalog signs the built-in catalog with another day and one more release, good
// for ninety days: signed FILE KEY ASOF MADE.
func signCatalog(ts *testscript.TestScript, _ bool, args []string) {
	c, err := catalog.Load()
	ts.Check(err)
	c.AsOf = args[2]
	c.Releases = append(c.Releases, catalog.Release{OpenShift: "4.99", Kubernetes: "1.99", KubeletSkew: 1, Drivers: map[string][]catalog.Shipped{}, Evidence: []catalog.Evidence{{Source: "test"}}})
	made, err := time.Parse(time.DateOnly, args[3])
	ts.Check(err)
	k, err := attest.ParseKey([]byte(ts.ReadFile(args[1] + ".pem")))
	ts.Check(err)
	envelope, err := signed.Make(context.Background(), c, made, made.AddDate(0, 0, 90), k)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), envelope, 0o600))
}

// pushCatalog puts a signed catalog into a registry: push FILE REF.
func pushCatalog(ts *testscript.TestScript, _ bool, args []string) {
	img, err := signed.Artifact([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	_, err = oci.Push(context.Background(), args[1], img, oci.Options{})
	ts.Check(err)
}
