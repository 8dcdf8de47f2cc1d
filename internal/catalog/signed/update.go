package signed

import (
	"context"
	"fmt"
	"time"

	"github.com/winbake/winbake/internal/attest"
	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/ociimage"
)

// A release's build sets these (.goreleaser.yaml): the public key that catalogs are
// verified with, as the base64 between the lines of its PEM, and where the newest
// catalog is, oci://REGISTRY/REPOSITORY:TAG.
var publicKey, source string

// Options say what Update takes.
type Options struct {
	// From is where the catalog is, KeyFile a public key in PEM; "" for what the build
	// has.
	From, KeyFile string
	// AllowOlder and AllowExpired take one that is refused otherwise.
	AllowOlder, AllowExpired bool
	// Now decides whether it is expired.
	Now time.Time
	// Registry is how a registry is reached.
	Registry ociimage.Options
}

// Update fetches a catalog, verifies it and keeps it. It returns the edition and
// the file that it is kept in. Errors are *fault.Error, and change nothing.
func Update(ctx context.Context, o Options) (*Edition, string, error) {
	path, err := Path()
	if err != nil {
		return nil, "", err
	}
	pem, key, err := o.key()
	if err != nil {
		return nil, "", err
	}
	if o.From == "" {
		o.From = source
	}
	if o.From == "" {
		return nil, "", &fault.Error{What: "this build doesn't know where catalogs are", Fix: "--from oci://REGISTRY/REPOSITORY:TAG, or a file"}
	}
	envelope, err := fetch(ctx, o.From, o.Registry)
	if err != nil {
		return nil, "", err
	}
	e, err := Open(ctx, o.From, envelope, key)
	if err != nil {
		return nil, "", err
	}
	if err := o.check(ctx, e); err != nil {
		return nil, "", err
	}
	return e, path, keep(path, envelope, pem)
}

func (o *Options) key() ([]byte, *attest.Key, error) {
	pem, where := []byte("-----BEGIN PUBLIC KEY-----\n"+publicKey+"\n-----END PUBLIC KEY-----\n"), "the key of this build"
	switch {
	case o.KeyFile != "":
		var err error
		if pem, err = infile.Read(o.KeyFile, infile.Text); err != nil {
			return nil, nil, &fault.Error{Where: o.KeyFile, What: "the key can't be read: " + infile.Cause(err), Fix: "--key FILE, a public key in PEM", Err: err}
		}
		where = o.KeyFile
	case publicKey == "":
		return nil, nil, &fault.Error{What: "this build has no key to verify catalogs with", Fix: "--key FILE, the public key of those who make the catalog"}
	}
	k, err := attest.ParseKey(pem)
	if err != nil {
		return nil, nil, &fault.Error{Where: where, What: "it is " + err.Error(), Fix: "--key FILE, a public key in PEM: openssl pkey -in KEY -pubout", Err: err}
	}
	if k.Private() {
		return nil, nil, &fault.Error{Where: where, What: "it is a private key, which is for those who sign", Fix: "openssl pkey -in KEY -pubout -out FILE, then --key FILE"}
	}
	return pem, k, nil
}

// check refuses an expired edition, and one that is older than what is in use.
func (o *Options) check(ctx context.Context, e *Edition) error {
	if !o.AllowExpired && !o.Now.Before(e.Expires) {
		return &fault.Error{Where: e.Name, What: "the catalog expired on " + e.Expires.Format(time.DateOnly), Fix: "get a newer one, or use it all the same: --allow-expired"}
	}
	if o.AllowOlder {
		return nil
	}
	inUse := catalog.BuiltIn()
	old, err := Kept(ctx)
	switch {
	case err == nil && old != nil && e.Made.Before(old.Made):
		inUse = fmt.Sprintf("%s, signed at %s", old.AsOf, old.Made.Format(time.RFC3339))
	case e.AsOf >= inUse:
		return nil
	}
	return &fault.Error{
		Where: e.Name, What: fmt.Sprintf("the catalog of %s, signed at %s, is older than the one in use, of %s", e.AsOf, e.Made.Format(time.RFC3339), inUse),
		Fix: "get a newer one, or use it all the same: --allow-older",
	}
}
