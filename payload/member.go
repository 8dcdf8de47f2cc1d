package payload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/stream"
)

// member is one single-member archive of an archived payload, a blob in the
// store.
type member struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"` // of the blob, in bytes
}

// maxMembers bounds how many members are compressed at once, so that one is
// written while the next is compressed. Each compresses several blocks at once
// too.
const maxMembers = 2

// members returns the archives of the files, in their order. One that the
// store has under the file's sum and name isn't made again.
func (p *packer) members(ctx context.Context, files []File) ([]member, error) {
	out := make([]member, len(files))
	jobs := min(runtime.GOMAXPROCS(0), maxMembers)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for _, i := range largestFirst(files) {
		g.Go(func() (err error) {
			out[i], err = p.member(ctx, files[i], max(allBlocks()/jobs, 1))
			return err
		})
	}
	return out, g.Wait()
}

// largestFirst orders indexes so that no large file is left for the end, when
// nothing else is there to run beside it.
func largestFirst(files []File) []int {
	order := make([]int, len(files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case files[a].Size > files[b].Size:
			return -1
		case files[a].Size < files[b].Size:
			return 1
		}
		return 0
	})
	return order
}

func memberKey(f File) string {
	return digestOf("member", struct {
		Tar                 int
		Codec, Name, SHA256 string
	}{tarVersion, memberCodec.ID(), path.Base(f.Path), f.SHA256})
}

func (p *packer) member(ctx context.Context, f File, blocks int) (member, error) {
	var m member
	known, err := p.store.Lookup(memberKey(f), &m)
	if err != nil {
		return m, fmt.Errorf("look up the archive of %s: %w", f.Path, err)
	}
	if known && p.has(m.Digest) {
		p.meter.Add(f.Size)
		return m, nil
	}
	if m.Digest, m.Size, err = p.makeMember(ctx, f, blocks); err != nil {
		return m, err
	}
	if err := p.store.Record(memberKey(f), m); err != nil {
		return m, fmt.Errorf("record the archive of %s: %w", f.Path, err)
	}
	return m, nil
}

func (p *packer) makeMember(ctx context.Context, f File, blocks int) (digest string, size int64, err error) {
	blob, err := p.store.Create()
	if err != nil {
		return "", 0, fmt.Errorf("create the archive of %s: %w", f.Path, err)
	}
	defer func() { err = errors.Join(err, blob.Abort()) }()
	if err := writeMember(ctx, blob, f, blocks, p.meter); err != nil {
		return "", 0, err
	}
	return blob.Commit()
}

// writeMember writes a file's archive: a gzipped tar whose only entry is the
// bare file name, which is what the operator unpacks into C:\k.
func writeMember(ctx context.Context, w io.Writer, f File, blocks int, m *stream.Meter) error {
	z, err := memberCodec.newWriter(w, blocks)
	if err != nil {
		return err
	}
	err = writeTar(ctx, z, []entry{{
		name: path.Base(f.Path), mode: fileMode, size: f.Size,
		open: func() (io.ReadCloser, error) { return f.verified(m) },
	}})
	if cerr := z.Close(); err == nil {
		err = cerr
	}
	return err
}
