package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/image/rootfs"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/guest"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/payload"
)

// uploads is how many files go up at once: enough that a small file's round
// trips hide behind a large one's bytes.
const uploads = 4

// missing are the files that the node doesn't have, nor their upload.
func missing(e *node.Expectation, f *node.Facts) []node.File {
	var out []node.File
	for _, want := range e.Files {
		i := slices.IndexFunc(f.Files, func(g node.FileFacts) bool { return node.SamePath(g.Path, want.Path) })
		if i >= 0 {
			if sum, ok := f.Files[i].SHA256.Get(); ok && sum == want.SHA256 {
				continue
			}
		}
		if !slices.Contains(f.Staged, want.SHA256+agent.StagedSuffix) {
			out = append(out, want)
		}
	}
	return out
}

// upload brings the files of the image to the node: while one is taken out of
// the image and compressed, those before it go up.
func (n *Node) upload(ctx context.Context, im *Image, files []node.File) error {
	temp, err := os.MkdirTemp("", "winbake-node-")
	if err != nil {
		return fmt.Errorf("make a folder for what is uploaded: %w", err)
	}
	defer os.RemoveAll(temp) // a folder for temporary files
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uploads)
	err = im.Pack(ctx, temp, files, func(f node.File, packed string) error {
		group.Go(func() error { return n.send(ctx, f, packed) })
		return nil
	})
	if werr := group.Wait(); werr != nil {
		return werr // it ended the walk
	}
	return err
}

func (n *Node) send(ctx context.Context, f node.File, packed string) error {
	n.say("uploading " + f.Component + " (" + f.Payload + ")")
	content, err := os.Open(packed)
	if err != nil {
		return err
	}
	err = n.Guest.Put(ctx, n.folder()+"/stage/"+f.SHA256+agent.StagedSuffix, content)
	if errors.Is(err, guest.ErrInUse) {
		err = nil // another run brought it, and unpacks it now: the name is the sum, which is checked there
	}
	return errors.Join(err, content.Close(), os.Remove(packed))
}

// Pack takes files out of the image and compresses each, as verify.exe takes
// them, into a file below dir. taken is told of each as soon as it's there, in
// the order of the image.
func (im *Image) Pack(ctx context.Context, dir string, files []node.File, taken func(f node.File, packed string) error) error {
	want := map[string]node.File{} // by path below /payload
	for _, f := range files {
		want[f.Payload] = f
	}
	if len(want) == 0 {
		return nil
	}
	err := rootfs.Walk(ctx, im.source, rootfs.Options{Roots: []string{payload.Root}}, func(e *rootfs.Entry) error {
		name := strings.TrimSuffix(strings.TrimPrefix(e.Path, payload.Root+"/"), payload.ArchiveSuffix)
		f, wanted := want[name]
		if e.Mode.IsDir() || !wanted {
			return nil
		}
		content := e.Content
		if e.Archived() {
			var err error
			if content, _, err = e.Member(); err != nil {
				return err
			}
		}
		packed, err := pack(dir, f, content)
		if err == nil {
			err = taken(f, packed)
		}
		delete(want, name)
		if err == nil && len(want) == 0 {
			return errAll
		}
		return err
	})
	if err != nil && !errors.Is(err, errAll) {
		return err
	}
	for _, f := range want {
		return &fault.Error{Where: im.Reference, What: "the image has no /payload/" + f.Payload + ", which its node.json names", Fix: "make the payload again: bake payload"}
	}
	return nil
}

// errAll ends the walk when all files were found. Each was checked against
// the sum that node.json gives, so the rest of the layer needn't be read.
var errAll = errors.New("all files were found")

// pack compresses a file into one below dir, and checks that it is the expected one.
func pack(dir string, f node.File, content io.Reader) (name string, err error) {
	out, err := os.CreateTemp(dir, "")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return "", err
	}
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(z, h), content)
	if err = errors.Join(err, z.Close()); err != nil {
		return "", fmt.Errorf("take %s out of the image: %w", f.Payload, err)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != f.SHA256 || size != f.Size {
		return "", &fault.Error{Where: "/payload/" + f.Payload, What: fmt.Sprintf("the image's file has sha256 %s, its node.json says %s", sum, f.SHA256), Fix: "make the payload again: bake payload"}
	}
	return out.Name(), nil
}
