package wmco

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	yaml "go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// ExampleServer is used where a cluster's API server isn't known.
const ExampleServer = "https://api-int.example.com:6443"

// Clouds are the platforms that WMCO tells apart; none is a cluster without a
// cloud provider.
func Clouds() []string { return slices.Clone(load().Clouds) }

// Cluster is what WMCO's services depend on.
type Cluster struct {
	Release string // minor, 4.20
	// Cloud is one of Clouds; "" for what all of them have in common.
	Cloud string
	// APIServer is the address at which nodes reach the API server; "" for
	// ExampleServer.
	APIServer string
	// VXLANPort is the port of the hybrid overlay network; 0 for its default.
	VXLANPort uint16
}

// Check refuses a cloud that WMCO doesn't know, and an API server's address that
// isn't one. The release doesn't matter to it. Its errors are *fault.Error.
func (c Cluster) Check() error {
	if !slices.Contains(Clouds(), c.Cloud) {
		return &fault.Error{What: fmt.Sprintf("there is no cloud %q", c.Cloud), Fix: "one of: " + strings.Join(Clouds(), ", ")}
	}
	if u, err := url.Parse(c.APIServer); c.APIServer != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "") {
		return &fault.Error{What: fmt.Sprintf("%q isn't the address of an API server", c.APIServer), Fix: "write it as " + ExampleServer}
	}
	return nil
}

// rows are those of the services that WMCO has in such a cluster.
func (c Cluster) rows() ([]serviceRow, error) {
	d := load()
	if !slices.Contains(d.Releases, c.Release) {
		return nil, &fault.Error{
			What: "the services that WMCO sets up on a cloud aren't known for OpenShift " + c.Release,
			Fix:  "without --cloud the services of versions.yaml are written; known are " + strings.Join(d.Releases, ", "),
		}
	}
	var rows []serviceRow
	for _, r := range d.Services {
		if r.holds(c.Release, c.Cloud) {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// service is a row's, with what holds for this cluster.
func (c Cluster) service(r serviceRow) winsvc.Service {
	s := winsvc.Service{
		Name: r.Name, Path: r.Path, NodeArgs: r.NodeArgs, Dependencies: r.Dependencies, Bootstrap: r.Bootstrap, Priority: r.Priority,
		Start: winsvc.StartManual, WMCOOnly: true,
	}
	for _, row := range r.Args {
		s.Arguments = append(s.Arguments, c.arguments(row)...)
	}
	for _, row := range r.PreScripts {
		if row.holds(c.Release, c.Cloud) {
			s.PreScripts = append(s.PreScripts, row.script())
		}
	}
	return s
}

// arguments are a row's, none where it doesn't hold.
func (c Cluster) arguments(row argumentRow) []string {
	if !row.holds(c.Release, c.Cloud) || c.VXLANPort == 0 && strings.Contains(row.Args, "VXLAN_PORT") {
		return nil
	}
	values := strings.NewReplacer("API_SERVER", cmp.Or(c.APIServer, ExampleServer), "VXLAN_PORT", fmt.Sprint(c.VXLANPort))
	args := strings.Fields(row.Args)
	for i, a := range args {
		args[i] = values.Replace(a)
	}
	return args
}

func (r scriptRow) script() winsvc.PreScript {
	return winsvc.PreScript{Variable: r.Variable, Command: r.Command, NodeArgs: r.NodeArgs}
}

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
	dec := yaml.NewDecoder(bytes.NewReader(services))
	dec.KnownFields(true)
	if err := dec.Decode(d); err != nil {
		panic(fmt.Sprintf("services.yaml: %v", err))
	}
	return d
})
