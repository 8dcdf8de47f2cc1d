package signed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/atomicfs"
	"github.com/winbake/winbake/internal/attest"
	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
)

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
	e, over, err := open(ctx, path, data, err)
	if err != nil {
		return nil, &fault.Error{Where: path, What: "the kept catalog can't be used: " + cause(err), Fix: "verify catalog update", Err: err}
	}
	if builtIn := catalog.BuiltIn(); e.AsOf < builtIn && over != builtIn {
		return nil, nil
	}
	return e, nil
}

func open(ctx context.Context, path string, data []byte, err error) (*Edition, string, error) {
	if err != nil {
		return nil, "", err
	}
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, "", err
	}
	key, err := attest.ParseKey([]byte(k.Key))
	if err != nil {
		return nil, "", err
	}
	e, err := Open(ctx, path, k.Envelope, key)
	return e, k.Over, err
}

// cause is what is wrong, without the place, which is said already.
func cause(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.What
	}
	return cmp.Or(infile.Cause(err), "unknown")
}
