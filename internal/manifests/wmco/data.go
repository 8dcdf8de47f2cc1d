package wmco

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/winbake/winbake/internal/version"
	"github.com/winbake/winbake/internal/winsvc"
)

//go:embed services.yaml
var services []byte

type document struct {
	Releases, Clouds []string
	Services         []serviceRow
}

type serviceRow struct {
	Condition    `yaml:",inline"`
	Name, Path   string
	Args         []argumentRow
	PreScripts   []scriptRow      `yaml:"preScripts"`
	NodeArgs     []winsvc.NodeArg `yaml:"nodeArgs"`
	Dependencies []string
	Bootstrap    bool
	Priority     uint
}

type argumentRow struct {
	Condition `yaml:",inline"`
	Args      string
}

type scriptRow struct {
	Condition         `yaml:",inline"`
	Variable, Command string
	NodeArgs          []winsvc.NodeArg `yaml:"nodeArgs"`
}

// Condition says where a row of services.yaml holds.
type Condition struct {
	From, Until string   // minor releases; Until is the first that isn't in the range
	Clouds      []string // none named: all
}

// holds answers for a release and a cloud; "" is what all clouds have in common.
func (c Condition) holds(release, cloud string) bool {
	return (c.From == "" || compare(release, c.From) >= 0) && (c.Until == "" || compare(release, c.Until) < 0) &&
		(len(c.Clouds) == 0 || slices.Contains(c.Clouds, cloud))
}

// compare orders minors. Those of services.yaml can be read, and a cluster's is
// one of them.
func compare(a, b string) int {
	x, _ := version.ParseOpenShift(a)
	y, _ := version.ParseOpenShift(b)
	return x.CompareMinor(y)
}

// load reads services.yaml, which was built in: that it can't be read is a
// fault of the program.
var load = sync.OnceValue(func() *document {
	d := &document{}
	if err := yaml.NewDecoder(bytes.NewReader(services), yaml.Strict()).Decode(d); err != nil {
		panic(fmt.Sprintf("services.yaml: %v", err))
	}
	return d
})
