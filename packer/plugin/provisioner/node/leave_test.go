package node

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"

	"github.com/winbake/winbake/internal/windows/deploy"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/packer/plugin/internal/comm"
	"github.com/winbake/winbake/packer/plugin/internal/image"
)

// uploads keeps what goes up, under the names that it goes up with.
type uploads struct {
	packersdk.MockCommunicator
	names, content []string
}

func (u *uploads) Upload(name string, r io.Reader, _ *os.FileInfo) error {
	data, err := io.ReadAll(r)
	u.names, u.content = append(u.names, name), append(u.content, string(data))
	return err
}

// TestLeave: what the first boot needs stays on the machine if it's asked for,
// and only then.
func TestLeave(t *testing.T) {
	for _, asked := range []bool{false, true} {
		u := new(uploads)
		im := &image.Image{Image: &deploy.Image{Expectation: &node.Expectation{APIVersion: node.APIVersion, Release: "4.20"}}}
		s := &step{config: &Config{FirstBootCheck: asked}, image: im, guest: comm.New(u, ""), node: &deploy.Node{Exe: []byte("MZ verify")}}
		if err := s.leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !asked {
			if len(u.names) > 0 {
				t.Errorf("nobody asked, and %v went up", u.names)
			}
			continue
		}
		if !slices.ContainsFunc(u.names, func(n string) bool { return strings.HasPrefix(n, leftVerify) }) || !slices.Contains(u.content, "MZ verify") {
			t.Errorf("no verify.exe went up, but %v", u.names)
		}
		if !slices.ContainsFunc(u.content, func(c string) bool { return strings.Contains(c, `"release": "4.20"`) }) {
			t.Errorf("no expectation went up: %v %q", u.names, u.content)
		}
	}
}
