package signed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/attest"
	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/image/oci"
)

// A release's build sets these (.goreleaser.yaml): the public key that catalogs are
// verified with, as the base64 between the lines of its PEM, and where the newest
// catalog is, oci://REGISTRY/REPOSITORY:TAG.
var publicKey, source string

// Command is the one that updates the catalog without a flag; "" for a build that has
// no key or doesn't know where catalogs are.
func Command() string {
	if publicKey == "" || source == "" {
		return ""
	}
	return "verify catalog update"
}

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
	Registry oci.Options
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
	if o.From = cmp.Or(o.From, source); o.From == "" {
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
		return nil, nil, &fault.Error{What: "this build has no key to verify catalogs with", Fix: "--key FILE, the public key of those who make the catalog; or install the newest verify, whose catalog is newer: docs/install.md"}
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

// kept is the file of the last good edition. The key is beside it to find damage:
// who can write the file can write the key.
type kept struct {
	Key      string          `json:"key"` // PEM
	Envelope json.RawMessage `json:"envelope"`
	// Over is the built-in catalog's day when it was kept, which may be a later one
	// if the user said so.
	Over string `json:"over"`
}

// Path is where the last good edition is kept, in the user's cache folder.
func Path() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", &fault.Error{What: "no place to keep a catalog: " + err.Error(), Fix: "set HOME or XDG_CACHE_HOME", Err: err}
	}
	return filepath.Join(dir, "winbake", "catalog.json"), nil
}

func keep(path string, envelope, key []byte) error {
	data, err := json.Marshal(kept{string(key), envelope, catalog.BuiltIn()})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return atomicfs.CantWrite(path, err)
	}
	if err := atomicfs.WriteFile(path, data); err != nil {
		return atomicfs.CantWrite(path, err)
	}
	return nil
}

// Kept is the edition that is used instead of the built-in catalog. nil: none was kept,
// or the built-in one is newer. An error says that the kept one is damaged; the
// built-in one is used then.
func Kept(ctx context.Context) (*Edition, error) {
	path, err := Path()
	if err != nil {
		return nil, nil //nolint:nilerr // no place for one: none was kept
	}
	data, err := infile.Read(path, maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var k kept
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	var key *attest.Key
	if err == nil {
		key, err = attest.ParseKey([]byte(k.Key))
	}
	var e *Edition
	if err == nil {
		e, err = Open(ctx, path, k.Envelope, key)
	}
	if err != nil {
		return nil, &fault.Error{Where: path, What: "the kept catalog can't be used: " + cause(err), Fix: cmp.Or(Command(), "verify catalog update, with --from and --key as it was fetched"), Err: err}
	}
	if builtIn := catalog.BuiltIn(); e.AsOf < builtIn && k.Over != builtIn {
		return nil, nil
	}
	return e, nil
}

// cause is what is wrong, without the place, which is said already.
func cause(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.What
	}
	return cmp.Or(infile.Cause(err), "unknown")
}

// FileName is an envelope's in a folder.
const FileName = "catalog.json"

// artifactType makes an OCI artifact that is a catalog:
// https://github.com/opencontainers/image-spec/blob/main/manifest.md#guidelines-for-artifact-usage
const artifactType = "application/vnd.winbake.catalog.config.v1+json"

// Artifact is an envelope as an OCI artifact of one layer.
func Artifact(envelope []byte) (v1.Image, error) {
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), artifactType)
	return mutate.AppendLayers(img, static.NewLayer(envelope, attest.MediaType))
}

// fetch reads the envelope from a file, a folder with FileName, an OCI layout, or
// a registry.
func fetch(ctx context.Context, from string, o oci.Options) ([]byte, error) {
	if ref, ok := strings.CutPrefix(from, "oci://"); ok {
		return fromImage(ctx, "docker://"+ref, o)
	}
	path, image := from, from
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		path, image = filepath.Join(from, FileName), "oci:"+from
	}
	data, err := infile.Read(path, maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = fromImage(ctx, image, o)
		if !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	return data, nil
}

func unreadable(path string, err error) error {
	what := "the catalog can't be read: " + infile.Cause(err)
	if errors.Is(err, fs.ErrNotExist) {
		what = "no such file or folder"
	}
	return &fault.Error{Where: path, What: what, Fix: "--from oci://REGISTRY/REPOSITORY:TAG, a file, or a folder with " + FileName, Err: err}
}

func fromImage(ctx context.Context, ref string, o oci.Options) ([]byte, error) {
	s, err := oci.Load(ctx, ref, o)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // only read
	img, err := s.Image()
	if err != nil {
		return nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(layers, func(l v1.Layer) bool {
		mt, err := l.MediaType()
		return err == nil && mt == attest.MediaType
	})
	if i < 0 {
		return nil, &fault.Error{Where: s.Reference(), What: "it holds no signed catalog", Fix: "name the artifact of a catalog, oci://REGISTRY/REPOSITORY:TAG, or a file"}
	}
	blob, err := layers[i].Compressed()
	if err != nil {
		return nil, err
	}
	defer blob.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(blob, maxBytes))
}
