package podtext

import (
	_ "crypto/sha256" // digests of images don't parse without it
	_ "crypto/sha512" // nor these
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/distribution/reference"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/printable"
)

// ErrTemplate is the error of an image reference that was never rendered.
var ErrTemplate = errors.New("a template that wasn't rendered")

var (
	// template takes ${X}, {{ x }}, $(X), %X% and <your x>.
	template = regexp.MustCompile(`\$\{|\{\{|\$\(|%[A-Z_]{2,}%|<[A-Za-z][A-Za-z _.-]*>`)
	// bareDigest is what a container runtime reports for an image that was
	// built or loaded on the node.
	bareDigest = regexp.MustCompile(`^[a-z0-9]+:[0-9a-f]{32,}$`)
)

// IsTemplate tells whether a text was never rendered.
func IsTemplate(s string) bool { return template.MatchString(s) }

// ParseImage takes an image reference apart. It adds nothing that isn't
// written: no docker.io, no latest. A status' imageID is read as well. What
// can't be read comes back with its Reference alone.
func ParseImage(ref string) (inventory.Image, error) {
	img := inventory.Image{Reference: ref}
	text := ref
	if _, rest, ok := strings.Cut(ref, "://"); ok { // docker-pullable://
		text = rest
	}
	switch {
	case text == "":
		return img, errors.New("there is no image")
	case strings.ContainsAny(text, " \t\r\n") && !strings.ContainsAny(text, "{<"):
		// A line below that isn't indented enough is part of a plain scalar.
		return img, fmt.Errorf("the image %s has a space in it: what stands below it was read as part of it", printable.Quote(ref))
	case template.MatchString(text):
		return img, fmt.Errorf("image %s is %w", printable.Quote(ref), ErrTemplate)
	case bareDigest.MatchString(text):
		img.Digest = text
		return img, nil
	}
	parsed, err := reference.Parse(text)
	if err != nil {
		return img, fmt.Errorf("read the image reference %s: %w", printable.Quote(ref), err)
	}
	if named, ok := parsed.(reference.Named); ok {
		img.Repository = named.Name()
	}
	if tagged, ok := parsed.(reference.Tagged); ok {
		img.Tag = tagged.Tag()
	}
	if digested, ok := parsed.(reference.Digested); ok {
		img.Digest = digested.Digest().String()
	}
	return img, nil
}

// LastElement is the last element of a repository.
func LastElement(repository string) string {
	return strings.ToLower(repository[strings.LastIndexByte(repository, '/')+1:])
}
