package payload

import (
	"archive/tar"
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/base/stream"
)

// tarVersion is raised when the same tree gives another tar than before: it is
// part of the cache keys of layers and members.
const tarVersion = 1

// whiteoutPrefix begins the name of a whiteout:
// https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts
const whiteoutPrefix = ".wh."

// The modes of a payload. Its files are data to the operator's container,
// which runs as any user: readable by all, executable by none.
const (
	dirMode       = 0o755
	fileMode      = 0o644
	generatedMode = 0o777
)

type entry struct {
	// name has no slash at its start or end.
	name string
	mode int64
	size int64
	// open gives size bytes; nil makes the entry a folder.
	open func() (io.ReadCloser, error)
}

// entry is a file below the tree's root.
func (t *Tree) entry(path string, size int64, open func() (io.ReadCloser, error)) entry {
	return entry{name: t.root() + "/" + path, mode: fileMode, size: size, open: open}
}

// arrange adds whiteouts and folders to the tree's files: sorted, folders before
// what is in them. Each has an entry for its folder: an engine that has to make one
// up may give it another mode.
func arrange(t *Tree, files []entry, removes []string) []entry {
	entries := slices.Concat(files, whiteouts(files, removes))
	dirs := map[string]int64{t.root(): dirMode}
	for _, e := range entries {
		for _, d := range parents(e.name) {
			dirs[d] = dirMode
		}
	}
	if !t.extras {
		dirs[t.root()+"/"+GeneratedName] = generatedMode
	}
	for name, mode := range dirs {
		entries = append(entries, entry{name: name, mode: mode})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries
}

// whiteouts hide files of the layers below, each by itself: some readers pass
// opaque whiteouts over. What the layer brings under the same name hides the
// file already, and engines disagree whether a whiteout would hide that too.
func whiteouts(brought []entry, removes []string) (all []entry) {
	files, folders := map[string]bool{}, map[string]bool{}
	for _, e := range brought {
		files[e.name] = true
		for _, d := range parents(e.name) {
			folders[d] = true
		}
	}
	empty := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }
	for _, r := range removes {
		hidden := files[r] || folders[r] || slices.ContainsFunc(parents(r), func(d string) bool { return files[d] })
		if !hidden {
			all = append(all, entry{name: path.Join(path.Dir(r), whiteoutPrefix+path.Base(r)), mode: fileMode, open: empty})
		}
	}
	return all
}

// writeTar writes the entries in their order, everything but names, modes,
// sizes and contents fixed.
func writeTar(ctx context.Context, w io.Writer, entries []entry) error {
	tw := tar.NewWriter(w)
	buf := make([]byte, stream.BufferSize)
	for _, e := range entries {
		if err := writeEntry(ctx, tw, e, buf); err != nil {
			return err
		}
	}
	return tw.Close()
}

func writeEntry(ctx context.Context, tw *tar.Writer, e entry, buf []byte) error {
	// No Format: package tar takes USTAR where it can, else PAX. The zero
	// owner is root, the zero time isn't 1970.
	h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: e.size, ModTime: time.Unix(0, 0)}
	if e.open == nil {
		h.Typeflag, h.Name = tar.TypeDir, e.name+"/"
	}
	if err := tw.WriteHeader(h); err != nil {
		return fmt.Errorf("write tar header of %s: %w", e.name, err)
	}
	if e.open == nil {
		return nil
	}
	return stream.Copy(ctx, tw, e.open, buf)
}

// maxMembers bounds how many members are compressed at once, so that one is
// written while the next is compressed. Each compresses several blocks at once
// too.
const maxMembers = 2

// members returns the archives of the files, in their order. One that the
// store has under the file's sum and name isn't made again.
func (p *packer) members(ctx context.Context, files []File) ([]packed, error) {
	out := make([]packed, len(files))
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
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(files[b].Size, files[a].Size) })
	return order
}

func memberKey(f File) string {
	return digestOf("member", struct {
		Tar                 int
		Codec, Name, SHA256 string
	}{tarVersion, memberCodec.ID(), path.Base(f.Path), f.SHA256})
}

func (p *packer) member(ctx context.Context, f File, blocks int) (packed, error) {
	m, known, err := p.once("the archive of "+f.Path, memberKey(f), func(w io.Writer, _ *packed) error {
		return writeMember(ctx, w, f, blocks, p.meter)
	})
	if known {
		p.meter.Add(f.Size)
	}
	return m, err
}

// writeMember writes a file's archive: a gzipped tar whose only entry is the
// bare file name, which is what the operator unpacks into C:\k.
func writeMember(ctx context.Context, w io.Writer, f File, blocks int, m *stream.Meter) error {
	return memberCodec.compress(w, blocks, func(z io.Writer) error {
		return writeTar(ctx, z, []entry{{
			name: path.Base(f.Path), mode: fileMode, size: f.Size,
			open: func() (io.ReadCloser, error) { return f.verified(m) },
		}})
	})
}
