package compile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/source/file"
)

// DigestOf returns "sha256:<hex>" of a text.
func DigestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// fileSum is the pinned sha256 of a carried file: versions.yaml's for a local
// file, the lock's for one out of a git tree.
func fileSum(job *Job) string {
	if job.Component.Kind() == pins.KindFile {
		return job.Component.SHA256
	}
	return job.Locked.SHA256
}

// lookupFile finds a carried file in the store. A local file is compared with
// its pin every time: a person who edits it wants to hear of it.
func (b *Builder) lookupFile(job *Job) (*Artifact, error) {
	if job.Component.Kind() == pins.KindFile {
		if err := file.Check(job.File, job.Component); err != nil {
			return nil, err
		}
	}
	digest := "sha256:" + fileSum(job)
	if job.Component.Kind() == pins.KindGitFile {
		var r record
		if ok, err := b.Store.GetAction(carryKey(job), &r); err != nil || !ok || r.Digest != digest {
			return nil, err // the tree has to say what its file is, not the lock alone
		}
	}
	size, err := b.Store.Stat(digest)
	if err != nil {
		return nil, nil //nolint:nilerr // not in the store: it is carried there
	}
	return &Artifact{Component: job.Component.Name, Digest: digest, Size: size, Cached: true}, nil
}

// carryKey is where it is kept which file was carried. A commit and a path
// name one content for good, whichever repository has it. What the lock says of
// the commit was compared with it then: said otherwise, it is compared again.
func carryKey(job *Job) string {
	if c, l := job.Component, job.Locked; c.Kind() == pins.KindGitFile {
		return DigestOf("carry\x00" + c.Commit + "\x00" + c.Path + "\x00" + l.Tree + "\x00" + l.Date)
	}
	return DigestOf("carry\x00sha256:" + fileSum(job))
}

// carry brings a file into the store and compares it with its pin.
func (b *Builder) carry(ctx context.Context, job *Job) (*Artifact, error) {
	b.emit(job, event.Fetch, event.Start, "")
	content, err := b.open(ctx, job)
	if err != nil {
		return nil, err
	}
	defer content.Close() //nolint:errcheck // only read
	digest, size, err := b.Store.Put(ctx, content)
	if err != nil {
		return nil, err
	}
	if err := compareFile(job, digest); err != nil {
		return nil, err
	}
	// The record keeps the file from being collected as garbage, and says that
	// it is the tree's.
	if err := b.Store.PutAction(carryKey(job), record{Digest: digest, Size: size}, digest); err != nil {
		return nil, err
	}
	b.emit(job, event.Fetch, event.Done, "")
	return &Artifact{Component: job.Component.Name, Digest: digest, Size: size}, nil
}

// compareFile compares what was carried with its pin.
func compareFile(job *Job, digest string) error {
	if job.Component.Kind() == pins.KindFile {
		return file.Compare(job.File, job.Component, strings.TrimPrefix(digest, "sha256:"))
	}
	if want := "sha256:" + fileSum(job); digest != want {
		return &fault.Error{Where: job.Component.Git, What: fmt.Sprintf("the file's digest is %s, %s is pinned", digest, want), Fix: lockCommand(job)}
	}
	return nil
}

// open starts to read a carried file, which may be larger than memory.
func (b *Builder) open(ctx context.Context, job *Job) (io.ReadCloser, error) {
	if job.Component.Kind() == pins.KindFile {
		return file.Open(job.File, job.Component)
	}
	commit, err := b.commit(ctx, job)
	if err != nil {
		return nil, err
	}
	return commit.Open(ctx, job.Component.Path)
}
