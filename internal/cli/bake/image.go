package bake

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/compile"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/payload"
)

type imageOptions struct {
	base, platform      string
	replace             bool
	accept              []string
	compression         string
	labels, annotations map[string]string
	registry            app.Registry
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

func (t *tool) load(r app.Registry) ociimage.Options {
	return ociimage.Options{
		Keychain: authn.DefaultKeychain, Insecure: r.Insecure, UserAgent: "winbake/" + app.Version(), Timeout: r.Timeout, Retrying: t.Retrying,
	}
}
