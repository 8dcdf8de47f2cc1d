package compile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/winbake/winbake/internal/component"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/source"
)

// DigestOf returns "sha256:<hex>" of a text.
func DigestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (j *Job) pin() source.Pin {
	return source.Pin{File: j.File, Component: j.Component, Locked: j.Locked}
}

func (b *Builder) env() *source.Env {
	return &source.Env{Host: b.Host, Git: b.Git, Events: b.Events}
}

// carryKey is where it is kept which file was carried.
func carryKey(kind component.File, p source.Pin) string {
	return DigestOf("carry\x00" + kind.Key(p))
}

// lookupFile finds a carried file in the store. Its source has said before what
// the file is: the lock alone doesn't count.
func (b *Builder) lookupFile(job *Job) (*Artifact, error) {
	kind, p := component.Of(job.Component).(component.File), job.pin()
	if err := kind.Check(p); err != nil {
		return nil, err
	}
	digest := "sha256:" + job.Locked.SHA256
	var r record
	if ok, err := b.Store.GetAction(carryKey(kind, p), &r); err != nil || !ok || r.Digest != digest {
		return nil, err
	}
	size, err := b.Store.Stat(digest)
	if err != nil {
		return nil, nil //nolint:nilerr // not in the store: it is carried there
	}
	return &Artifact{Component: job.Component.Name, Digest: digest, Size: size, Cached: true}, nil
}

// carry brings a file into the store and compares it with its pin.
func (b *Builder) carry(ctx context.Context, job *Job) (*Artifact, error) {
	kind, p := component.Of(job.Component).(component.File), job.pin()
	b.emit(job, event.Fetch, event.Start, "")
	content, err := kind.Open(ctx, b.env(), p)
	if err != nil {
		return nil, err
	}
	defer content.Close() //nolint:errcheck // only read
	digest, size, err := b.Store.Put(ctx, content)
	if err != nil {
		return nil, err
	}
	if err := kind.Compare(p, strings.TrimPrefix(digest, "sha256:")); err != nil {
		return nil, err
	}
	// The record keeps the file from being collected as garbage, and says that
	// it is the source's.
	if err := b.Store.PutAction(carryKey(kind, p), record{Digest: digest, Size: size}, digest); err != nil {
		return nil, err
	}
	b.emit(job, event.Fetch, event.Done, "")
	return &Artifact{Component: job.Component.Name, Digest: digest, Size: size}, nil
}
