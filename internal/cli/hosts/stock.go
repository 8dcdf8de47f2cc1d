package hosts

import (
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/node/deploy"
	"github.com/winbake/winbake/internal/node/wanted"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/payload/verify"
)

// Stock is what a node should be with an image that doesn't say it, as this
// versions.yaml has it; nil for "". warn is told what the image hasn't got.
func Stock(file string, warn func(name, what string)) deploy.Otherwise {
	if file == "" {
		return nil
	}
	return func(files []verify.File) (*node.Expectation, error) {
		f, err := pins.Load(file)
		if err != nil {
			return nil, err
		}
		return wanted.OfImage(f, Present(files), warn)
	}
}

// Present are the files of an image by their paths below /payload.
func Present(files []verify.File) map[string]wanted.Present {
	present := map[string]wanted.Present{}
	for _, f := range files {
		present[f.Path] = wanted.Present{SHA256: f.SHA256, Size: f.Size}
	}
	return present
}
