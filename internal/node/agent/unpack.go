package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/stream"
)

// StagedSuffix ends the names of uploaded files, which are the sums of what is
// in them: SUM.zst.
const StagedSuffix = ".zst"

// NotStaged says that a file that is needed wasn't uploaded whole.
type NotStaged struct {
	Path, SHA256 string
	Err          error
}

// Error says which.
func (e *NotStaged) Error() string {
	return fmt.Sprintf("the upload of %s isn't whole: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *NotStaged) Unwrap() error { return e.Err }

// unpack writes the uploaded file next to its target and checks its sum: what
// isn't what it should be never gets the target's name, and what was uploaded
// wrong is removed so that the next run uploads it again.
func unpack(ctx context.Context, stage string, f fileChange) error {
	name := filepath.Join(stage, f.New+StagedSuffix)
	in, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) && fromTarget(f) {
		return nil
	}
	if err != nil {
		return notStaged(f, err)
	}
	defer in.Close() // only read
	out, err := os.OpenFile(f.Path+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return cantWrite(filepath.Dir(f.Path), err)
	}
	err = expand(ctx, out, in, f)
	if err == nil {
		err = out.Sync()
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if bad, ok := errors.AsType[*NotStaged](err); ok {
		_ = in.Close()
		return notStaged(f, errors.Join(bad.Err, remove(name)))
	}
	if err != nil {
		return cantWrite(f.Path+newSuffix, err)
	}
	return nil
}

// fromTarget writes the file next to its target from the target itself, which another run
// has made of the same upload since this one found it there. false: it isn't that
// file.
func fromTarget(f fileChange) bool {
	in, err := os.Open(f.Path)
	if err != nil {
		return false
	}
	defer in.Close() // only read
	out, err := os.OpenFile(f.Path+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return false
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), in)
	err = errors.Join(err, out.Sync(), out.Close())
	if err == nil && hex.EncodeToString(h.Sum(nil)) == f.New {
		return true
	}
	_ = remove(f.Path + newSuffix) // it is another file
	return false
}

func notStaged(f fileChange, err error) error {
	what := "it was damaged on the way: " + err.Error()
	if errors.Is(err, fs.ErrNotExist) {
		what = "it wasn't uploaded"
	}
	return &fault.Error{Where: f.Path, What: what, Fix: "run the same command again: what arrived isn't sent twice", Err: &NotStaged{f.Path, f.New, err}}
}

// expand decompresses no more than the size that is expected, whatever the
// upload claims to hold.
func expand(ctx context.Context, w io.Writer, r io.Reader, f fileChange) error {
	z, err := zstd.NewReader(stream.NewReader(ctx, r), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return err
	}
	defer z.Close()
	h := sha256.New()
	source := &stream.Source{R: io.LimitReader(z, f.Size+1)}
	n, err := io.Copy(io.MultiWriter(w, h), source)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case source.Err != nil:
		return &NotStaged{f.Path, f.New, source.Err}
	case err != nil:
		return err
	case n != f.Size:
		return &NotStaged{f.Path, f.New, fmt.Errorf("%d bytes instead of %d", n, f.Size)}
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != f.New {
		return &NotStaged{f.Path, f.New, fmt.Errorf("its sha256 is %s", sum)}
	}
	return nil
}
