package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/stream"
)

// StagedSuffix ends the names of uploaded files, which are the sums of what is
// in them: SUM.zst.
const StagedSuffix = ".zst"

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
	damage, err := expand(ctx, out, in, f)
	err = cmp.Or(err, out.Sync(), out.Close())
	if damage != nil {
		_ = in.Close()
		return notStaged(f, errors.Join(damage, remove(name)))
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
	return &fault.Error{Where: f.Path, What: what, Fix: "run the same command again: what arrived isn't sent twice", Err: err}
}

// expand decompresses no more than the size that is expected, whatever the
// upload claims to hold. damage is what is wrong with the upload.
func expand(ctx context.Context, w io.Writer, r io.Reader, f fileChange) (damage, err error) {
	z, err := zstd.NewReader(stream.NewReader(ctx, r), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	h := sha256.New()
	source := &stream.Source{R: io.LimitReader(z, f.Size+1)}
	n, err := io.Copy(io.MultiWriter(w, h), source)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case source.Err != nil:
		return source.Err, nil
	case err != nil:
		return nil, err
	case n != f.Size:
		return fmt.Errorf("%d bytes instead of %d", n, f.Size), nil
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != f.New {
		return fmt.Errorf("its sha256 is %s", sum), nil
	}
	return nil, nil
}

// stale is the age from which an upload belongs to nobody who is still at it.
const stale = time.Hour

// tidy removes what was uploaded for this change, and what others left behind.
// Another change may be uploading meanwhile: its files stay.
func (c *change) tidy(req *Request) {
	if req.Expectation != nil {
		for _, f := range req.Expectation.Files {
			_ = remove(filepath.Join(c.dirs.Stage, f.SHA256+StagedSuffix))
		}
	}
	if c.dirs.Stage != "" {
		tidyStale(c.dirs.Stage, "*")
		_ = os.Remove(c.dirs.Stage) // unless something is in it
		// What was brought for earlier changes: another release's verify.exe, and what
		// was asked of it.
		tidyStale(filepath.Dir(c.dirs.Stage), "verify-*.exe", "expect-*.json", "request-*.json")
	}
	c.dirs.leave()
}

// CheckPrefix begins the name of a check's folder, which is in the folder
// that commands run in.
const CheckPrefix = ".winbake-check-"

// TidyChecks removes the folders of checks that were cut off from the node
// before they could. dir is the folder that they lie in.
func TidyChecks(dir string) { tidyStale(dir, CheckPrefix+"*") }

// tidyStale removes what has such names, but for the program that runs. What can't
// be removed now is by the next one.
func tidyStale(dir string, patterns ...string) {
	self, _ := os.Executable() // "" keeps none, and Windows the one that runs
	for _, pattern := range patterns {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is right
		for _, name := range found {
			info, err := os.Lstat(name)
			if err == nil && time.Since(info.ModTime()) > stale && !strings.EqualFold(filepath.Base(name), filepath.Base(self)) {
				_ = removeAll(name)
			}
		}
	}
}

// leave removes the state folder when it says nothing: no change is under way
// and nothing is installed. Who waits for the lock holds it open, and keeps it.
func (d Dirs) leave() {
	for _, name := range []string{d.journal(), d.record()} {
		if _, err := os.Lstat(name); !os.IsNotExist(err) {
			return
		}
	}
	_ = remove(filepath.Join(d.State, lockName))
	_ = os.Remove(d.State)
}
