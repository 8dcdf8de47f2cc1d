package wanted

import (
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/pins"
)

// OfImage is what a node should be with the files of an image that doesn't say
// it itself, such as one of WMCO's own: where versions.yaml puts them, with the
// sums that they have in the image. files go by their paths below /payload.
//
// It expects no versions: which ones are in somebody else's files isn't known.
// warn is told, with its name, of each component that the image doesn't have.
func OfImage(file *pins.File, files map[string]Present, warn func(name, what string)) (*node.Expectation, error) {
	if len(file.Services) == 0 {
		return nil, &fault.Error{Where: file.Path, What: "no services are declared", Fix: "add services: [{name: csi-proxy, component: csi-proxy}]; docs/services.md has the keys"}
	}
	var built []Built
	for i := range file.Components {
		c := &file.Components[i]
		if c.Install == "" {
			continue
		}
		p, ok := files[c.Payload]
		if !ok {
			warn(c.Name, "the image has no /payload/"+c.Payload+": it is left out")
			continue
		}
		built = append(built, Built{Component: c, SHA256: p.SHA256, Size: p.Size})
	}
	if len(built) == 0 {
		return nil, &fault.Error{Where: file.Path, What: "the image has none of its components", Fix: "see that each payload: is the file's path below /payload, as verify payload IMAGE -v lists them"}
	}
	return Expectation(file, built, warn)
}
