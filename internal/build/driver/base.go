package driver

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/internal/image/oci"
)

// Base is a Windows image that a driver's is put onto.
type Base struct {
	// Digest is the image's own; of an index, that of its image. Name is the
	// registry's, without tag and digest; "" for a local one, whose path isn't the
	// same everywhere.
	Digest, Name string
	// Build is the Windows build of os.version; 0 for an image that names none, as
	// HostProcess bases do.
	Build int

	image v1.Image
}

// Bases are the images that were given.
type Bases struct {
	All     []*Base
	sources []*oci.Source
}

// OpenBases opens the Windows images of each reference. One in a registry must be
// named by digest.
func OpenBases(ctx context.Context, refs []string, load oci.Options) (_ *Bases, err error) {
	b := &Bases{}
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	load.Platform = &v1.Platform{OS: "windows", Architecture: "amd64"}
	for _, ref := range refs {
		s, err := oci.Resolve(ctx, ref, load)
		if err != nil {
			return nil, err
		}
		b.sources = append(b.sources, s)
		all, err := imagesOf(s)
		if err != nil {
			return nil, err
		}
		b.All = append(b.All, all...)
	}
	return b, nil
}

// Close lets go of the images, which can't be read any more.
func (b *Bases) Close() {
	for _, s := range b.sources {
		_ = s.Close() // it was only read
	}
}

// imagesOf returns the Windows images that src holds, oldest build first.
func imagesOf(src *oci.Source) ([]*Base, error) {
	images, err := src.Images()
	if err != nil {
		return nil, err
	}
	name := ""
	if src.Kind == oci.KindRegistry {
		name, _, _ = strings.Cut(src.Ref, "@")
	}
	var all []*Base
	for _, i := range images {
		file, err := i.Image.ConfigFile()
		if err != nil {
			return nil, err
		}
		if file.OS != "windows" || file.Architecture != "amd64" {
			return nil, &fault.Error{Where: src.Reference(), What: fmt.Sprintf("the base is for %s/%s, not for windows/amd64", file.OS, file.Architecture),
				Fix: "give a base for Windows nodes"}
		}
		all = append(all, &Base{Digest: i.Digest.String(), Name: name, Build: version.WindowsBuild(file.OSVersion), image: i.Image})
	}
	slices.SortFunc(all, func(a, b *Base) int { return a.Build - b.Build })
	return all, nil
}

// hives are the registry files that Windows reads of a base layer when it unpacks
// it: https://github.com/microsoft/windows-host-process-containers-base-image,
// New-HostProcessBaseImage.ps1 at d7c1101.
var hives = []string{"DEFAULT", "SAM", "SECURITY", "SOFTWARE", "SYSTEM"}

// hiveFolder is where they are in a layer.
const hiveFolder = "files/windows/system32/config/"

// Hives says what is wrong with the base's registry files; "" for nothing. From
// Windows Server 2025 on they must be registry files; the base image v1.0.0 has
// empty ones, which Windows up to Server 2022 takes.
func (b *Base) Hives(ctx context.Context) (wrong string, err error) {
	layers, err := b.image.Layers()
	if err != nil {
		return "", fmt.Errorf("read the base's layers: %w", err)
	}
	if len(layers) == 0 {
		return "it has no layer", nil
	}
	found, err := readHives(ctx, layers[0])
	if err != nil {
		return "", err
	}
	for _, name := range hives {
		switch valid, there := found[name]; {
		case !there:
			return `it has no Windows\System32\config\` + name, nil
		case !valid:
			return `its Windows\System32\config\` + name + " is no registry file", nil
		}
	}
	return "", nil
}

// readHives finds the registry files of a layer, and whether each begins as one
// does: https://github.com/msuhanov/regf, "Base block".
func readHives(ctx context.Context, layer v1.Layer) (map[string]bool, error) {
	rc, err := layer.Uncompressed()
	if err != nil {
		return nil, fmt.Errorf("read the base's first layer: %w", err)
	}
	defer rc.Close() //nolint:errcheck // only read
	found := map[string]bool{}
	for tr := tar.NewReader(rc); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("read the base's first layer: %w", err)
		}
		name, ok := strings.CutPrefix(strings.ToLower(strings.TrimPrefix(h.Name, "./")), hiveFolder)
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		var magic [4]byte
		_, err = io.ReadFull(tr, magic[:])
		found[strings.ToUpper(name)] = err == nil && string(magic[:]) == "regf"
	}
}

// ForMode are the bases for containers of a mode. One without a build has no
// Windows of its own, and is for HostProcess containers alone.
func ForMode(bases []*Base, hostProcess bool) []*Base {
	var bare, whole []*Base
	for _, b := range bases {
		if b.Build == 0 {
			bare = append(bare, b)
		} else {
			whole = append(whole, b)
		}
	}
	if hostProcess && len(bare) > 0 {
		return bare
	}
	return whole
}

// CheckBases refuses bases, those of ForMode, on which an image couldn't start on
// nodes of those Windows versions. warning is what is worth knowing of one that
// will do.
func CheckBases(ctx context.Context, bases []*Base, windows []string) (warning string, err error) {
	for i, b := range bases {
		if slices.ContainsFunc(bases[:i], func(o *Base) bool { return o.Build == b.Build }) {
			return "", &fault.Error{Where: b.Digest, What: "two bases are for the same Windows version", Fix: "give one --base for each"}
		}
	}
	for _, w := range windows {
		build, err := csidriver.WindowsBuild(w)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(bases, func(b *Base) bool { return b.fits(build) })
		if i < 0 {
			return "", &fault.Error{What: "no base has an image that starts on Windows Server " + w, Where: haveBuilds(bases),
				Fix: fmt.Sprintf("add --base with one of build %d, such as mcr.microsoft.com/windows/servercore of ltsc%s by digest, or take the version out of --windows", build, w)}
		}
		if bases[i].Build != 0 {
			continue
		}
		wrong, err := bases[i].Hives(ctx)
		if err != nil {
			return "", err
		}
		if wrong == "" {
			continue
		}
		if build >= catalog.Server2025 {
			return "", &fault.Error{Where: bases[i].Digest, What: "Windows Server 2025 can't unpack the base: " + wrong,
				Fix: "take a base made by New-HostProcessBaseImage.ps1 of microsoft/windows-host-process-containers-base-image from commit d7c1101 on; v1.0.0 is older"}
		}
		warning = "nodes of Windows Server 2025 can't unpack the base: " + wrong
	}
	return warning, nil
}

// fits reports whether a node of that build starts the image, whichever containerd
// it has.
func (b *Base) fits(build int) bool { return b.Build == 0 || catalog.RunsImage(b.Build, build, "") }

func haveBuilds(bases []*Base) string {
	var have []string
	if len(bases) == 0 {
		return "a base without os.version is for HostProcess containers alone"
	}
	for _, b := range bases {
		have = append(have, fmt.Sprintf("%s is of build %d", b.Digest, b.Build))
	}
	return strings.Join(have, ", ")
}

// ModeName is the word for a mode.
func ModeName(hostProcess bool) string {
	if hostProcess {
		return string(csidriver.HostProcess)
	}
	return string(csidriver.Pipes)
}
