package bake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/build/bundle"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// settle reads what the base has below /payload and decides what becomes of it,
// before anything is built.
func (p *packing) settle(ctx context.Context) error {
	b := p.base
	if b.source == nil {
		return nil
	}
	var base *verify.Base
	err := p.step(b.ref, event.Read, func(progress stream.Progress, _ *event.Event) (err error) {
		base, err = verify.ReadBase(ctx, b.source, p.store, progress)
		return err
	})
	if err != nil {
		return err
	}
	if err := sound(b.ref, base.Problems, p.replace); err != nil {
		return err
	}
	b.below = map[string]below{}
	for _, image := range base.Images {
		if b.below[image.Digest], err = p.belowOf(&image); err != nil {
			return err
		}
	}
	return nil
}

// sound refuses a base whose files can't be told, or that the operator couldn't
// use if they stayed.
func sound(ref string, problems []verify.Problem, replace bool) error {
	for _, p := range problems {
		hidden := strings.HasPrefix(p.ID, "payload.tar.") || p.ID == verify.IDWhiteoutHides
		if p.Severity == verify.SeverityBlock && (hidden || !replace) {
			return &fault.Error{Where: ref, What: fmt.Sprintf("the base's payload isn't sound: %s: %s: %s, expected %s", p.ID, p.Object, p.Observed, p.Expected),
				Fix: "give another base; all that is wrong with this one: verify payload " + shell.Word(ref)}
		}
	}
	return nil
}

// belowOf decides what becomes of the files of one image.
func (p *packing) belowOf(i *verify.ImageSummary) (below, error) {
	if err := p.fits(i); err != nil {
		return below{}, err
	}
	if p.replace {
		return below{removes: i.Removes(nil)}, p.removed(i)
	}
	kept, err := i.Keeps(p.tree)
	if f, ok := errors.AsType[*fault.Error](err); ok && len(kept) > 0 {
		f.Fix += ": --replace-payload"
	}
	if err == nil {
		err = p.stays(i, kept)
	}
	return below{kept, i.Removes(kept)}, err
}

// fits holds the base's payload to the release and the format of this one: the
// operator in the base reads both as one.
func (p *packing) fits(i *verify.ImageSummary) error {
	switch {
	case len(i.Files) == 0: // no operator's
	case i.Release != "" && i.Release != p.file.Release:
		return p.baseFault(fmt.Sprintf("the base is the operator of OpenShift %s, and the pins are for %s", i.Release, p.file.Release),
			fmt.Sprintf("--base with the operator of %s, or -f with pins for %s", p.file.Release, i.Release))
	case i.Format != "" && i.Format != p.tree.Format:
		return p.baseFault(fmt.Sprintf("the base's payload has the format %s, and this one is to be %s", i.Format, p.tree.Format),
			fmt.Sprintf("--format %s, or a base whose operator reads %s", i.Format, p.tree.Format))
	}
	return nil
}

// stays tells of each file that stays, and refuses those that mustn't.
func (p *packing) stays(i *verify.ImageSummary, kept []payload.KeptFile) error {
	if len(kept) > 0 && i.Release == "" {
		// Files of two releases in one payload start, and fail on a node.
		if !p.accepts(acceptRelease, "") {
			return p.baseFault(fmt.Sprintf("the base doesn't say for which OpenShift release it is, so its %s that would stay may be of another one than %s", inventory.Many(len(kept), "file"), p.file.Release),
				"--accept "+acceptRelease+" if you know that it is for "+p.file.Release+", or keep nothing of it: --replace-payload")
		}
		p.warn(p.base.ref, "it doesn't say for which OpenShift release it is; taken to be for "+p.file.Release)
	}
	for _, k := range kept {
		for _, f := range i.Files {
			if f.Path == k.Path && f.Link != "" {
				return p.baseFault(fmt.Sprintf("/payload/%s of the base is a link to /%s, which may become another file", f.Path, f.Link),
					"give a base without links in /payload, or keep nothing of it: --replace-payload")
			}
		}
		p.Tell(payload.Root+"/"+k.Path, event.Pack, event.Note, "stays, from the base "+i.Platform+" "+k.Base)
	}
	return nil
}

// removed tells of each file that goes without another one in its place, and
// refuses to take it from an operator that needs it.
func (p *packing) removed(i *verify.ImageSummary) error {
	cat, err := (&catalogflag.Flag{}).Load()
	if err != nil {
		return err
	}
	demanded := cat.PayloadFiles(p.file.Release)
	if demanded == nil {
		p.warn(p.base.ref, "what the operator of OpenShift "+p.file.Release+" demands isn't known: it may need what goes")
	}
	var needed []string
	for _, f := range i.Files {
		object := payload.Root + "/" + f.Path
		at := slices.IndexFunc(demanded, func(d catalog.PayloadFile) bool { return d.Path == f.Path })
		switch {
		case slices.ContainsFunc(p.tree.Files, func(ours payload.File) bool { return ours.Path == f.Path }):
		case at < 0:
			p.Tell(object, event.Pack, event.Note, "goes")
		case p.accepts(acceptRemoval, object):
			p.warn(object, "goes, so "+demanded[at].Effect)
		default:
			needed = append(needed, object+": without it "+demanded[at].Effect)
		}
	}
	if len(needed) == 0 {
		return nil
	}
	f := p.baseFault(fmt.Sprintf("the operator of %s needs %s that would go", p.file.Release, inventory.Many(len(needed), "file")),
		"pin them in versions.yaml, keep those of the base (leave --replace-payload out), or, if it is meant, for each: --accept "+acceptRemoval+"=payload/...")
	f.Excerpt = strings.Join(needed, "\n")
	return f
}

func (p *packing) baseFault(what, fix string) *fault.Error {
	return &fault.Error{Where: p.base.ref, What: what, Fix: fix}
}

// What --accept takes. verify payload calls a file that an operator lacks by
// the same name.
const (
	acceptRelease = "payload.base.release"
	acceptRemoval = "payload.operator.file"
)

// checkAccept refuses what would accept nothing without a word.
func (o *imageOptions) checkAccept() error {
	for _, a := range o.accept {
		if id, _, _ := strings.Cut(a, "="); id != acceptRelease && id != acceptRemoval {
			return &fault.Error{What: "--accept " + a + ": nothing is called so here", Fix: "one of " + acceptRelease + ", " + acceptRemoval + "[=payload/...]"}
		}
	}
	return nil
}

func (o *imageOptions) accepts(id, object string) bool {
	return slices.Contains(o.accept, id) || slices.Contains(o.accept, id+"="+object)
}

// whole names, in one line, the files that the operator demands and a payload
// without a base doesn't have. With --only a part of it is what was asked for.
func (t *tool) whole(o payloadOptions, file *pins.File) error {
	if o.base != "" || file.Base != "" || len(o.only) > 0 {
		return nil
	}
	known, err := (&catalogflag.Flag{}).Load()
	if err != nil {
		return err
	}
	message, demanded := "", known.PayloadFiles(file.Release)
	if demanded == nil {
		message = "what the operator of OpenShift " + file.Release + " demands isn't known, so this payload wasn't held to it"
	} else if missing := lacks(file, demanded); len(missing) > 0 {
		message = fmt.Sprintf("this isn't a whole operator's payload: %d of the %d files that the operator of OpenShift %s demands are missing (%s); examples/wmco pins them, and with --base the operator's own stay",
			len(missing), len(demanded), file.Release, strings.Join(missing, ", "))
	}
	if message != "" {
		t.Tell("payload", event.Pack, event.Note, message)
	}
	return nil
}

func lacks(file *pins.File, demanded []catalog.PayloadFile) (missing []string) {
	for _, f := range demanded {
		if !slices.ContainsFunc(file.Components, func(c pins.Component) bool { return c.Payload == f.Path }) {
			missing = append(missing, f.Path)
		}
	}
	return missing
}

// baseImage is the image that a payload is put onto, or none.
type baseImage struct {
	source *oci.Source
	image  oci.ImageOrIndex
	ref    string // by digest
	name   string // of a registry's; a path isn't the same everywhere
	below  map[string]below
}

// below is what becomes of the files that one image of the base has where the
// payload and its extras go.
type below struct {
	kept    []payload.KeptFile
	removes []string
}

func (o *imageOptions) openBase(ctx context.Context, load oci.Options, file *pins.File) (*baseImage, error) {
	if err := o.checkAccept(); err != nil {
		return nil, err
	}
	ref := cmp.Or(o.base, file.Base)
	bundled := o.unpacked != "" && o.base == "" && file.Base != ""
	if bundled {
		ref = "oci:" + filepath.Join(o.unpacked, bundle.Base)
	}
	if ref == "" && o.replace {
		return nil, &fault.Error{What: "--replace-payload is about the files of a base, and there is none", Fix: "add --base REF, or leave it out"}
	}
	if ref == "" {
		return &baseImage{}, nil
	}
	platform, err := o.parsePlatform()
	if err != nil {
		return nil, err
	}
	load.Platform = platform
	source, err := oci.Resolve(ctx, ref, load)
	if err != nil {
		return nil, err
	}
	b := &baseImage{source: source, ref: source.Reference()}
	if source.Kind == oci.KindRegistry {
		b.name, _, _ = strings.Cut(source.Ref, "@")
	}
	if bundled {
		name, digest, _ := strings.Cut(file.Base, "@")
		if b.name = name; source.Digest.String() != digest {
			return nil, &fault.Error{Where: ref, What: "the bundle's base is " + source.Digest.String() + ", not " + digest, Fix: "where the network is: bake bundle --out sources.tar"}
		}
	}
	if b.image = source.Index(); source.Index() == nil || platform != nil {
		b.image, err = source.Image()
	}
	return b, err
}

func (b *baseImage) close() {
	if b.source != nil {
		_ = b.source.Close() // it was only read
	}
}

// add puts a payload onto the base, or makes an image of it alone: put gets nil
// then.
func (b *baseImage) add(o payload.ImageOptions, put func(v1.Image) (v1.Image, error)) (oci.ImageOrIndex, error) {
	switch base := b.image.(type) {
	case v1.ImageIndex:
		return payload.AppendIndex(base, o, put)
	case v1.Image:
		return put(base)
	default:
		return put(nil)
	}
}

// under is what becomes of the files of one image of the base.
func (b *baseImage) under(image v1.Image) (below, error) {
	if image == nil {
		return below{}, nil
	}
	digest, err := image.Digest()
	if err != nil {
		return below{}, fmt.Errorf("read the base image: %w", err)
	}
	under, ok := b.below[digest.String()]
	if !ok {
		return below{}, &fault.Error{Where: b.ref, What: "it holds the image " + digest.String() + ", which no engine on Linux would choose",
			Fix: "name the image for linux/amd64 by its own digest"}
	}
	return under, nil
}

// without are the files that go, but for those that the extras replace.
func (b below) without(extras []payload.File) []string {
	return slices.DeleteFunc(slices.Clone(b.removes), func(path string) bool {
		return slices.ContainsFunc(extras, func(f payload.File) bool { return path == payload.ExtrasRoot+"/"+f.Path })
	})
}
