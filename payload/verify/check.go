package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
	"github.com/winbake/winbake/payload"
)

// Options says what Check compares with and whom it tells. The zero
// value checks a payload against itself and the operator's rules.
type Options struct {
	// Expected is what the payload should hold, as the pins say; nil for unknown. An
	// empty Format allows either, no Files any, and no SHA256 of one any content.
	// Other fields aren't looked at.
	Expected *payload.Tree
	// Executable is called for each .exe, and each file of Programs, with its
	// path below Root and its uncompressed content, which is good until it
	// returns. A file that several images share is shown once. One of
	// more than 256 MiB is beyond the limits: it is held in memory.
	Executable func(path string, r io.ReaderAt, size int64)
	// Programs are the paths below Root of programs, whatever their names end
	// in: Windows starts a .com too.
	Programs []string
	Limits   Limits
	// Progress is told about the compressed bytes of an image's layers.
	Progress func(done, total int64)
}

// File is one file that Check has read.
type File struct {
	// Path is below Root and without ArchiveSuffix.
	Path string
	// Archived tells in which format it lies there.
	Archived bool
	// SHA256 is the lower-case hex sum and Size the length in bytes of the
	// uncompressed content; both are zero when it couldn't be read.
	SHA256 string
	Size   int64
	// Link is where a link, symbolic or hard, has its content from: a path in
	// the image. Empty for any other file.
	Link string
}

func (f File) stored() string {
	if f.Archived {
		return payload.Root + "/" + f.Path + payload.ArchiveSuffix
	}
	return payload.Root + "/" + f.Path
}

// Summary is what Check has seen, for reports.
type Summary struct {
	Folder    bool   // of files, and no image
	Reference string // by digest
	Images    []ImageSummary
}

// ImageSummary is what Check has seen in one image; a plain folder counts as
// one.
type ImageSummary struct {
	// Platform is empty for a folder.
	Platform string
	Digest   string
	// Format is empty for a mixed or empty payload.
	Format payload.Format
	// Files are sorted by path.
	Files []File
	// Bytes is the sum of the sizes of Files.
	Bytes int64
	// Paths are all files below Root and ExtrasRoot as they lie in the image,
	// sorted: those too that are neither in Files nor in Extras.
	Paths []string
	// Extras are the files of ExtrasRoot, or of the folder beside a payload's.
	Extras Extras
	// Release is what the image's labels tell: see ReleaseOf.
	Release string
	// Operator tells whether the image is to be run: it has an entry point, which
	// every image of WMCO has and a payload of its own hasn't.
	Operator bool
	// Base is the digest of the base that was asked for, and Kept the files that
	// came with it, sorted by path, both as labels say.
	Base string
	Kept []payload.KeptFile
	// LayersRead of Layers had to be read; the rest lies under an opaque
	// whiteout.
	Layers, LayersRead int
}

// maxProblems ends the reading of an image that is nothing but unsafe entries.
const maxProblems = 10_000

type checker struct {
	source *oci.Source
	opts   Options
	memory []byte             // of executables, one after the other
	known  map[string]*result // by the layers that decide a payload
}

type result struct {
	problems []Problem
	summary  ImageSummary
	layers   int // how many from the top were read
}

// maxExecutable bounds an executable in memory: twice the largest node binary.
const maxExecutable = 256 << 20

// room is where an executable is held until it is checked. A size that an archive only
// claims costs no memory until its bytes come.
func (c *checker) room(path string, size int64) (*bytes.Buffer, error) {
	if size > maxExecutable {
		const limit = maxExecutable >> 20
		return nil, &rootfs.LimitError{Object: path, Observed: fmt.Sprintf("an executable of more than %d MiB", limit), Limit: fmt.Sprintf("%d MiB", limit)}
	}
	if int64(cap(c.memory)) < size {
		c.memory = make([]byte, 0, size)
	}
	return bytes.NewBuffer(c.memory), nil
}

// image checks one image, or finds that an image before it has the same upper
// layers: the images of an index differ in their Linux part only.
func (c *checker) image(ctx context.Context, i oci.PlatformImage) (result, error) {
	keys, err := layerKeys(i.Image)
	if err != nil {
		return result{}, err
	}
	for n := range keys {
		if r, ok := c.known[keys[n]]; ok && r.layers == n+1 {
			again := *r
			again.summary.Layers, again.summary.LayersRead = len(keys), 0
			return again, c.source.Complete(i.Image)
		}
	}
	r, err := c.payload(ctx, i)
	if err == nil && r.layers > 0 {
		c.known[keys[r.layers-1]] = &r
	}
	return r, err
}

// layerKeys returns, for each number of layers from the top, what tells them
// from others.
func layerKeys(img v1.Image) ([]string, error) {
	m, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	cf, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	var keys []string
	key := ""
	for i := len(m.Layers) - 1; i >= 0; i-- {
		key += " " + m.Layers[i].Digest.String()
		if i < len(cf.RootFS.DiffIDs) {
			key += " " + cf.RootFS.DiffIDs[i].String()
		}
		key = sha256Of([]byte(key)) // each means all above it
		keys = append(keys, key)
	}
	return keys, nil
}

// payload reads one image's payload and judges it.
func (c *checker) payload(ctx context.Context, i oci.PlatformImage) (result, error) {
	r := newPayloadReader(c)
	o := rootfs.Options{Roots: roots, Limits: c.opts.Limits.ofWalk(), Progress: c.opts.Progress}
	o.Unsafe = func(u rootfs.Unsafe) error {
		id := IDTarUnsafe
		if u.Hides {
			id = IDWhiteoutHides
		}
		if r.Add(problem(id, u.Object, u.Observed, u.Expected)); len(r.problems) > maxProblems {
			return &rootfs.LimitError{Object: u.Object, Observed: "more problems than that", Limit: fmt.Sprintf("%d", maxProblems)}
		}
		return ctx.Err()
	}
	var err error
	if c.source.Kind == oci.KindDir {
		err = r.extrasDir(payload.ExtrasDir(c.source.Ref))
	}
	layers, werr := rootfs.WalkImage(ctx, c.source, i.Image, o, r.visit)
	err = errors.Join(err, werr)
	if limit, ok := errors.AsType[*rootfs.LimitError](err); ok {
		r.Add(problem(IDTarBomb, limit.Object, limit.Observed, "at most "+limit.Limit))
	} else if err != nil {
		return result{}, err
	} else {
		r.judge()
	}
	return r.result(layers), nil
}

// roots are what Winbake puts into an image.
var roots = []string{payload.Root, payload.ExtrasRoot}

func (r *payloadReader) result(layers rootfs.Layers) result {
	sortProblems(r.problems)
	slices.Sort(r.paths)
	s := ImageSummary{Format: r.format(), Files: r.files, Paths: slices.Compact(r.paths), Extras: r.extras, Layers: layers.All, LayersRead: layers.Read}
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.stored(), b.stored()) })
	for _, f := range s.Files {
		s.Bytes += f.Size
	}
	return result{problems: r.problems, summary: s, layers: layers.Read}
}
