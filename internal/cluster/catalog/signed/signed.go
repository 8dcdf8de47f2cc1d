// Package signed is the catalog as a dated, signed file: made, fetched, verified, and
// kept for the runs that follow. It judges no fact, and writes the kept file alone.
package signed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/winbake/winbake/internal/attest"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/catalog"
)

// payloadType is what an envelope says of a catalog.
const payloadType = "application/vnd.winbake.catalog.v1+json"

// maxBytes bounds an envelope; today's has 320 KiB.
const maxBytes = 16 << 20

// Edition is a catalog that was signed.
type Edition struct {
	// Made is when it was signed, and tells which of two is newer. From Expires on
	// nobody should take it up.
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
	// Content is a whole catalog.Catalog.
	Content json.RawMessage `json:"catalog"`

	// Name is where it was read from, AsOf the day that its facts are of.
	Name string `json:"-"`
	AsOf string `json:"-"`

	alone *catalog.Catalog // without overlays
}

// Make signs a catalog.
func Make(ctx context.Context, c *catalog.Catalog, made, expires time.Time, k *attest.Key) ([]byte, error) {
	content, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("sign the catalog: %w", err)
	}
	payload, err := json.Marshal(Edition{Made: made.UTC(), Expires: expires.UTC(), Content: content})
	if err != nil {
		return nil, fmt.Errorf("sign the catalog: %w", err)
	}
	return attest.Sign(ctx, k, payloadType, payload)
}

// Open verifies an envelope with a key and reads the catalog in it. name is where it
// is from. Errors are *fault.Error.
func Open(ctx context.Context, name string, envelope []byte, k *attest.Key) (*Edition, error) {
	payload, err := attest.Verify(ctx, envelope, payloadType, k)
	if err != nil {
		return nil, untrusted(name, err)
	}
	e := &Edition{Name: name}
	if err := json.Unmarshal(payload, e); err != nil {
		return nil, &fault.Error{Where: name, What: "the signed catalog can't be read: " + err.Error(), Fix: newest, Err: err}
	}
	e.alone, err = catalog.LoadOver(e.whole())
	if err != nil {
		return nil, &fault.Error{Where: name, What: "this program doesn't understand the catalog: " + fault.FirstLine(err), Fix: newest, Err: err}
	}
	e.AsOf = e.alone.AsOf
	return e, nil
}

// newest is what helps where a catalog has what this program doesn't know.
const newest = "install the newest verify (docs/install.md), then: verify catalog update"

func untrusted(name string, err error) error {
	f := &fault.Error{Where: name, What: "it isn't a signed catalog, or only a part of one", Fix: "get it again from those who make it", Err: err}
	switch {
	case errors.Is(err, attest.ErrForged):
		f.What, f.Fix = "the catalog is forged or damaged: it was changed after it was signed", "don't use it; get it again from those who make it"
	case errors.Is(err, attest.ErrOtherKey):
		f.What, f.Fix = "the catalog was "+err.Error(), "if you trust those who made it, name their public key: --key FILE"
	}
	return f
}

// Load is the catalog with overlays on top.
func (e *Edition) Load(overlays ...catalog.Overlay) (*catalog.Catalog, error) {
	if len(overlays) == 0 {
		return e.alone, nil
	}
	return catalog.LoadOver(e.whole(), overlays...)
}

func (e *Edition) whole() []catalog.Overlay {
	return []catalog.Overlay{{Name: e.Name, Data: e.Content}}
}
