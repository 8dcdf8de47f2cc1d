// Command image makes an image of verify, or of bake, without a daemon: an OCI
// layout, the same bytes from a commit with its tags on any machine.
//
// The image holds the command, and in /licenses the texts of what it links: no shell, and
// no certificates of public authorities. In a cluster verify trusts what its service account has.
package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/gzip"
	"github.com/spf13/pflag"

	"github.com/winbake/winbake/hack/notices"
	"github.com/winbake/winbake/internal/image/oci"
)

func main() {
	command := pflag.String("command", "verify", "verify or bake")
	platforms := pflag.StringSlice("platform", []string{"linux/amd64", "linux/arm64"}, "platforms")
	layout := pflag.String("layout", "_output/tool", "OCI layout to write")
	archive := pflag.String("tarball", "", "tarball to write in place of the layout")
	push := pflag.String("push", "", "registry reference to push to, too")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *command, *platforms, *layout, *archive, *push)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command string, platforms []string, layout, archive, push string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, name := range platforms {
		p, err := v1.ParsePlatform(name)
		if err != nil {
			return fmt.Errorf("--platform %s: %w", name, err)
		}
		img, err := image(ctx, command, *p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: p}})
	}
	place, write := layout, oci.WriteLayout
	if archive != "" {
		place, write = archive, oci.WriteTarball
	}
	digest, err := write(ctx, place, index, nil)
	if err != nil {
		return err
	}
	ref := place + "@" + digest.String()
	if push != "" {
		if ref, err = oci.Push(ctx, push, index, oci.Options{Keychain: authn.DefaultKeychain, UserAgent: "winbake"}); err != nil {
			return err
		}
	}
	fmt.Println(ref)
	return nil
}

// image is the command in an image of one layer, run by nobody's user.
func image(ctx context.Context, command string, p v1.Platform) (v1.Image, error) {
	layer, err := layer(ctx, command, p)
	if err != nil {
		return nil, err
	}
	base := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	img, err := mutate.Append(base, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{CreatedBy: "make image"}})
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Variant = p.OS, p.Architecture, p.Variant
	file.Created = v1.Time{Time: time.Unix(0, 0).UTC()}
	file.Config.Entrypoint, file.Config.User = []string{"/" + command}, "65532"
	return mutate.ConfigFile(img, file)
}

func layer(ctx context.Context, command string, p v1.Platform) (v1.Layer, error) {
	dir, err := os.MkdirTemp("", "winbake-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	exe := filepath.Join(dir, command)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", exe, "./cmd/"+command)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+p.OS, "GOARCH="+p.Architecture, "GOARM="+strings.TrimPrefix(p.Variant, "v"))
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("build %s for %s: %w", command, p, err)
	}
	program, err := os.ReadFile(exe)
	own, errOwn := os.ReadFile("LICENSE")
	var others bytes.Buffer
	if err := errors.Join(err, errOwn, notices.Write([]string{exe}, &others)); err != nil {
		return nil, err
	}
	var blob bytes.Buffer
	z := gzip.NewWriter(&blob)
	tw := tar.NewWriter(z)
	for _, f := range []struct {
		name string
		mode int64
		data []byte
	}{{command, 0o555, program}, {"licenses/LICENSE", 0o444, own}, {"licenses/THIRD-PARTY.txt", 0o444, others.Bytes()}} {
		err = errors.Join(err, tw.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: time.Unix(0, 0)}))
		if err == nil {
			_, err = tw.Write(f.data)
		}
	}
	if err := errors.Join(err, tw.Close(), z.Close()); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(blob.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
}
