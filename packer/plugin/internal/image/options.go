package image

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/imagecheck"
)

// Options name an image and what it must be, in a template's words.
type Options struct {
	// The payload image that the node's files come from:
	// `REGISTRY/REPOSITORY@sha256:...`, or the path of an OCI layout, a
	// tarball, or a folder that `bake payload --dir` wrote. One of the
	// Windows Machine Config Operator's own images does too.
	Payload string `mapstructure:"payload" required:"true"`
	// The digest that the payload image must have, `sha256:...`. Another image
	// ends the build before anything is changed.
	Digest string `mapstructure:"digest"`
	// The OpenShift release that the payload must be for, such as `4.20`.
	Release string `mapstructure:"release"`
	// `openshift` (default) has csi-proxy alone, under the Windows Machine
	// Config Operator's name. `generic` has every service that the payload
	// declares, and containerd, with recovery actions.
	Profile string `mapstructure:"profile"`
	// Talk plain http to the registry. Default `false`.
	PlainHTTP bool `mapstructure:"plain_http"`
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Check refuses options that can't be right, without opening anything. The
// error is a *fault.Error.
func (o Options) Check() error {
	if o.Payload == "" {
		return &fault.Error{What: "payload is missing: which image do the node's files come from?", Fix: `payload = "REGISTRY/REPOSITORY@sha256:..."`}
	}
	return o.CheckGiven()
}

// CheckGiven is Check where no payload is needed.
func (o Options) CheckGiven() error {
	switch {
	case o.Digest != "" && !digestForm.MatchString(o.Digest):
		return &fault.Error{What: fmt.Sprintf("digest can't be %q", o.Digest), Fix: "give sha256: and 64 hexadecimal digits; bake payload prints it"}
	case !slices.Contains(imagecheck.Profiles, o.Profile):
		return &fault.Error{What: fmt.Sprintf("profile can't be %q", o.Profile), Fix: "give one of " + strings.Join(imagecheck.Profiles, ", ")}
	}
	return nil
}
