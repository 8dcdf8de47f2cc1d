package bake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/cache"
	"github.com/winbake/winbake/internal/build/compile"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/wanted"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/payload"
)

type imageOptions struct {
	base, platform      string
	replace             bool
	accept              []string
	compression         string
	labels, annotations map[string]string
	registry            app.Registry
	unpacked            string // the folder of a bundle, which has the base of the pins
}

func (o *imageOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.base, "base", "", "operator image to append to: a reference by digest, an OCI layout or a tarball")
	f.BoolVar(&o.replace, "replace-payload", false, "keep none of the base's own payload files")
	f.StringArrayVar(&o.accept, "accept", nil, "what is known and meant, ID or ID=file: "+acceptRelease+" or "+acceptRemoval+"; may be repeated")
	f.StringVar(&o.platform, "platform", "", "platform that the base must have, such as linux/amd64")
	f.StringVar(&o.compression, "compression", payload.Gzip, "gzip or zstd")
	f.StringToStringVar(&o.labels, "label", nil, "labels, key=value, in addition to Winbake's own or instead of them")
	f.StringToStringVar(&o.annotations, "annotation", nil, "annotations, likewise")
	o.registry.Register(f, "registries")
	app.Choices(cmd, "compression", payload.Gzip, payload.Zstd)
}

func (o *imageOptions) parsePlatform() (*v1.Platform, error) {
	if o.platform == "" {
		return nil, nil
	}
	p, err := v1.ParsePlatform(o.platform)
	if err != nil || p.OS == "" || p.Architecture == "" {
		return nil, &fault.Error{What: fmt.Sprintf("--platform can't be %q", o.platform), Fix: "--platform linux/amd64", Err: err}
	}
	return p, nil
}

// describe fills in labels and annotations. All defaults come from pins and
// lock: a clone elsewhere gives the same image.
func (o *imageOptions) describe(file *pins.File, jobs []*compile.Job, base *baseImage) (payload.ImageOptions, error) {
	platform, err := o.parsePlatform()
	if err != nil {
		return payload.ImageOptions{}, err
	}
	created, err := createdAt(jobs)
	if err != nil {
		return payload.ImageOptions{}, err
	}
	options := payload.ImageOptions{
		Created: created, Title: "Windows node payload for OpenShift " + file.Release,
		Source: file.Source, Revision: pinsDigest(file, jobs), Version: file.Release,
		Labels: o.labels, Annotations: o.annotations, Platform: platform,
	}
	if base.image != nil {
		digest, err := base.image.Digest()
		if err != nil {
			return options, fmt.Errorf("read the base image: %w", err)
		}
		options.BaseName, options.BaseDigest = base.name, digest.String()
	}
	return options, nil
}

// createdAt is SOURCE_DATE_EPOCH where it is set, else the time of the newest
// commit of a git source, else 1970: a module's date is only what a proxy says.
func createdAt(jobs []*compile.Job) (time.Time, error) {
	if t, set, err := pins.SourceDate(sourceDateEpoch()); err != nil || set {
		return t, err
	}
	newest := time.Unix(0, 0).UTC()
	for _, j := range jobs {
		if t, err := time.Parse(time.RFC3339, j.Locked.Date); err == nil && t.After(newest) {
			newest = t
		}
	}
	return newest, nil
}

func pinsDigest(file *pins.File, jobs []*compile.Job) string {
	var parts []string
	for _, j := range jobs {
		parts = append(parts, j.Component.Name, j.Component.PinDigest(file), j.Locked.GoMod, j.Locked.GoSum, j.Component.Payload)
	}
	return "pins-" + strings.TrimPrefix(compile.DigestOf(strings.Join(parts, "\n")), "sha256:")
}

// blobStore lets package payload keep layers in the cache.
type blobStore struct{ *cache.Store }

var _ payload.Store = blobStore{}

func (b blobStore) Create() (payload.BlobWriter, error) { return b.Store.Create() }

// Open takes content that is gone for damaged: to run again makes both again.
func (b blobStore) Open(digest string) (io.ReadCloser, error) {
	rc, err := b.Store.Open(digest)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", cache.ErrDamaged, err)
	}
	return rc, err
}

func (b blobStore) Record(key string, v any) error { return b.PutAction(key, v) }

func (b blobStore) Lookup(key string, v any) (bool, error) { return b.GetAction(key, v), nil }

// extras is what goes into /winbake: node.json where versions.yaml declares services,
// the licence texts of what is linked, and verify.exe where it was asked for.
type extras struct {
	expectation *node.Expectation // nil for none
	others      []payload.File
}

func (p *packing) newExtras(ctx context.Context, artifacts []*compile.Artifact) (*extras, error) {
	var built []wanted.Built
	for i, j := range p.jobs {
		built = append(built, wanted.Built{Component: j.Component, Stamps: j.Stamps, SHA256: strings.TrimPrefix(artifacts[i].Digest, "sha256:"), Size: artifacts[i].Size, Unsigned: strings.TrimPrefix(artifacts[i].Unsigned, "sha256:")})
	}
	e, err := wanted.Expectation(p.file, built, p.warn)
	if err != nil {
		return nil, err
	}
	x := &extras{expectation: e}
	texts, without, err := compile.LicenseTexts(p.file, p.jobs)
	if without > 0 {
		p.Tell(payload.ExtrasRoot+"/"+payload.LicensesName, event.Pack, event.Note, "the lock of "+inventory.Many(without, "program")+" has no licence text; "+pins.LockCommand(p.file)+" writes them")
	}
	if texts != nil {
		x.others = append(x.others, bytesFile(payload.LicensesName, texts))
	}
	if err != nil || !p.withVerify {
		return x, err
	}
	data, err := p.readVerifyExe(ctx, p.buildOptions)
	x.others = append(x.others, bytesFile(payload.VerifyName, data))
	return x, err
}

// files are those of an image that keeps so much of its base.
func (x *extras) files(kept []payload.KeptFile) ([]payload.File, error) {
	if x.expectation == nil {
		return x.others, nil
	}
	e := *x.expectation
	e.Kept = kept
	data, err := e.Encode()
	if err != nil {
		return nil, err
	}
	return append([]payload.File{bytesFile(payload.ExpectationName, data)}, x.others...), nil
}

func bytesFile(name string, data []byte) payload.File {
	sum := sha256.Sum256(data)
	return payload.File{Path: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}
