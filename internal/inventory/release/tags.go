package release

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/podtext"
)

// finish sorts the tags, takes the version of Kubernetes from them and refuses
// two tags of one name: which of two commits is the release's can't be told.
func finish(p inventory.Payload) (inventory.Payload, error) {
	slices.SortStableFunc(p.Tags, func(a, b inventory.PayloadTag) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(p.Tags); i++ {
		if p.Tags[i].Name == p.Tags[i-1].Name {
			return p, &fault.Error{
				What: fmt.Sprintf("lists %s twice", p.Tags[i].Name), Where: p.At.Where,
				Fix: "save it again: " + saveInfo,
			}
		}
	}
	if p.Kubernetes == "" {
		p.Kubernetes = agreed(p.Tags)
	}
	return p, nil
}

// agreed is the one version of Kubernetes that tags name. Several tags may
// carry the key; where they differ there is none.
func agreed(tags []inventory.PayloadTag) string {
	found := ""
	for _, t := range tags {
		if t.Kubernetes == "" {
			continue
		}
		if found != "" && found != t.Kubernetes {
			return ""
		}
		found = t.Kubernetes
	}
	return found
}

// fullCommit returns s when it is a whole object name of git, and nothing for
// what is cut short, which could mean another commit.
func fullCommit(s string) string {
	if len(s) != 40 && len(s) != 64 {
		return ""
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return ""
		}
	}
	return s
}

// imageOf takes a pull spec apart. One that can't be parsed keeps its text.
func imageOf(spec string) inventory.Image {
	i, err := podtext.ParseImage(spec)
	if err != nil {
		return inventory.Image{Reference: spec}
	}
	return i
}
