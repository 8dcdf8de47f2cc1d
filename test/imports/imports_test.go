// Package imports holds the house together: which package may import which,
// and why. It has no code of its own.
package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/program"
)

const module = "github.com/winbake/winbake/"

// ruleFamily is what a package of rules of verify skew may import.
var ruleFamily = []string{"internal/printable", "internal/catalog", "internal/finding", "internal/inventory", "internal/skew/action", "internal/skew/remedy", "internal/skew/rules", "internal/skew/snapshot", "internal/version"}

// allowed lists, for each package, what it may import of this module. A new
// line needs a reason; an arrow that points upwards has none.
var allowed = map[string][]string{
	"internal/printable":      {},                                                                                                                                                                                                                          // leaf: any text that nobody vouches for
	"internal/accept":         {"internal/fault", "internal/finding", "internal/infile", "internal/strictyaml"},                                                                                                                                            // reads one file; lowers no finding
	"internal/autoescape":     {},                                                                                                                                                                                                                          // leaf: templates
	"internal/finding":        {},                                                                                                                                                                                                                          // leaf: anything may hold findings
	"internal/atomicfs":       {"internal/fault"},                                                                                                                                                                                                          // leaf: where any output goes
	"internal/fault":          {},                                                                                                                                                                                                                          // leaf: anything may fail
	"internal/event":          {},                                                                                                                                                                                                                          // leaf: anything may report
	"internal/target":         {},                                                                                                                                                                                                                          // leaf: what programs are built for
	"internal/proc":           {},                                                                                                                                                                                                                          // leaf: starts programs, knows none
	"internal/pe":             {},                                                                                                                                                                                                                          // reads bytes, judges nothing
	"internal/winsvc":         {"internal/printable", "internal/winname"},                                                                                                                                                                                  // leaf: a service and its rules, on the node too
	"internal/node":           {"internal/fault", "internal/finding", "internal/winsvc"},                                                                                                                                                                   // pure: what a node says against what it should be
	"internal/node/agent":     {"internal/fault", "internal/node", "internal/winsvc", "internal/stream"},                                                                                                                                                   // on the node: asks Windows, changes it
	"internal/node/firstboot": {"internal/atomicfs", "internal/fault", "internal/finding"},                                                                                                                                                                 // on the node: waits, writes an event and a file, looks at nothing itself
	"internal/node/wanted":    {"internal/catalog", "internal/fault", "internal/finding", "internal/node", "internal/pins", "internal/version", "internal/winsvc"},                                                                                         // pins into node.json, for bake and verify; builds and reads nothing
	"internal/node/guest":     {"internal/fault", "internal/infile", "internal/proc", "internal/shell", "internal/stream"},                                                                                                                                 // reaches a machine, knows nothing of what it is told
	"internal/node/deploy":    {"internal/printable", "internal/shell", "internal/fault", "internal/finding", "internal/node", "internal/node/agent", "internal/node/guest", "payload", "internal/ociimage", "internal/ociimage/rootfs", "payload/verify"}, // a payload image onto a node
	"internal/manifests":      {"internal/fault", "internal/finding", "internal/strictyaml", "internal/version", "internal/winsvc"},                                                                                                                        // definitions written out; reads and runs nothing
	"internal/cas":            {"internal/atomicfs", "internal/fault", "internal/stream"},                                                                                                                                                                  // knows nothing of what it keeps
	"internal/pins":           {"internal/atomicfs", "internal/strictyaml", "internal/fault", "internal/finding", "internal/infile", "internal/shell", "internal/winsvc", "internal/winname"},                                                              // exit code of a stale lock
	"internal/gotool":         {"internal/fault", "internal/printable", "internal/proc", "internal/target"},                                                                                                                                                // runs go
	"internal/wine":           {"internal/fault"},                                                                                                                                                                                                          // starts programs, judges none
	"internal/report":         {"internal/fault", "internal/finding", "internal/printable"},                                                                                                                                                                // writes findings, makes none
	"internal/console":        {"internal/event", "internal/fault", "internal/printable"},                                                                                                                                                                  // shows events, makes none
	"internal/expect":         {"internal/shell", "internal/finding", "internal/pe", "internal/pins", "internal/target"},                                                                                                                                   // pure: a pin against an executable

	"internal/infile":            {},                                                                                             // leaf: opens what a user names
	"internal/depth":             {},                                                                                             // leaf: parses what may be nested without end
	"internal/strictyaml":        {"internal/fault"},                                                                             // one YAML document into structs, with places
	"internal/source/gitsrc":     {"internal/shell", "internal/fault", "internal/printable", "internal/proc"},                    // runs git
	"internal/source/gomod":      {"internal/shell", "internal/fault", "internal/gotool", "internal/pins", "internal/printable"}, // runs go
	"internal/source":            {"internal/event", "internal/gotool", "internal/pins", "internal/source/gitsrc", "internal/source/gomod"},
	"internal/component":         {"internal/component/file", "internal/component/git", "internal/component/module", "internal/pins", "internal/source"}, // the kinds behind one interface; orders and stores nothing
	"internal/component/file":    {"internal/fault", "internal/infile", "internal/pins", "internal/shell", "internal/source"},
	"internal/component/git":     {"internal/component/program", "internal/fault", "internal/pins", "internal/source", "internal/source/gitsrc"},
	"internal/component/module":  {"internal/component/program", "internal/event", "internal/fault", "internal/gotool", "internal/infile", "internal/pins", "internal/source", "internal/source/gomod"},
	"internal/component/program": {"internal/fault", "internal/gotool", "internal/pins", "internal/source", "internal/source/gomod", "internal/target"}, // what kinds that are compiled share
	"internal/resolve":           {"internal/atomicfs", "internal/component", "internal/event", "internal/fault", "internal/pins", "internal/source"},   // pins into locks
	"internal/compile": {"internal/cas", "internal/component", "internal/event", "internal/expect", "internal/fault", "internal/finding", "internal/gotool",
		"internal/pe", "internal/pins", "internal/proc", "internal/source", "internal/source/gitsrc", "internal/source/gomod"}, // locks into artifacts

	"internal/version":                 {"internal/fault", "internal/printable"},                                                                                                                                            // leaf: reads versions, knows no driver
	"internal/shell":                   {},                                                                                                                                                                                  // leaf
	"internal/catalog":                 {"internal/fault", "internal/infile", "internal/strictyaml", "internal/version", "internal/printable"},                                                                              // data and questions about them
	"internal/inventory":               {"internal/printable", "internal/version"},                                                                                                                                          // the model alone; its readers stand below it
	"internal/skew/action":             {"internal/autoescape", "internal/finding", "internal/inventory", "internal/shell", "internal/version"},                                                                             // values, and the commands of each; chooses nothing, runs nothing
	"internal/skew/snapshot":           {"internal/catalog", "internal/fault", "internal/inventory", "internal/version"},                                                                                                    // what can be looked up; judges nothing
	"internal/skew/rules":              {"internal/finding", "internal/inventory", "internal/skew/action", "internal/skew/snapshot", "internal/version"},                                                                    // what a rule is; knows none
	"internal/skew/remedy":             {"internal/catalog", "internal/inventory", "internal/manifests/csidriver", "internal/skew/action", "internal/skew/rules", "internal/skew/snapshot", "internal/version"},             // a remedy names bake only where it writes what fits
	"internal/skew/plan":               {"internal/catalog", "internal/finding", "internal/inventory", "internal/skew/action", "internal/skew/remedy", "internal/skew/rules", "internal/skew/snapshot", "internal/version"}, // orders what rules ask for; the rules are given to it
	"internal/skew/rules/admission":    ruleFamily,
	"internal/skew/rules/after":        append(slices.Clone(ruleFamily), "internal/skew/rules/intree"),   // AFTER003 is INTREE001 at rest
	"internal/skew/rules/data":         append(slices.Clone(ruleFamily), "internal/skew/rules/versions"), // several versions matter where they change the distance
	"internal/skew/rules/hostprocess":  ruleFamily,
	"internal/skew/rules/intree":       ruleFamily,
	"internal/skew/rules/node":         ruleFamily,
	"internal/skew/rules/proxy":        ruleFamily,
	"internal/skew/rules/registration": ruleFamily,
	"internal/skew/rules/update":       ruleFamily,
	"internal/skew/rules/versions":     append(slices.Clone(ruleFamily), "internal/skew/rules/hostprocess", "internal/skew/rules/node"), // leaves the advice to them where they block
	"internal/skew": append(slices.Clone(ruleFamily), "internal/skew/plan", "internal/skew/rules/admission", "internal/skew/rules/after", "internal/skew/rules/data", "internal/skew/rules/hostprocess", "internal/skew/rules/intree",
		"internal/skew/rules/node", "internal/skew/rules/proxy", "internal/skew/rules/registration", "internal/skew/rules/update", "internal/skew/rules/versions"), // runs the rules
	"internal/inventory/podtext":    {"internal/inventory", "internal/printable"},                                                                                         // the words of a pod's fields; judges none
	"internal/inventory/kube":       {"internal/catalog", "internal/inventory", "internal/shell", "internal/version", "internal/printable", "internal/inventory/podtext"}, // objects into the model
	"internal/inventory/resolve":    {"internal/fault", "internal/inventory", "internal/ociimage", "internal/registry", "internal/shell", "internal/version"},             // the version of a digest, by its registry
	"internal/inventory/kustomize":  {"internal/infile", "internal/printable"},                                                                                            // what kustomize builds of local files
	"internal/inventory/manifests":  {"internal/shell", "internal/fault", "internal/infile", "internal/inventory", "internal/inventory/kube", "internal/inventory/kustomize", "internal/inventory/yamlnode", "internal/printable", "internal/stream"},
	"internal/inventory/mustgather": {"internal/shell", "internal/fault", "internal/infile", "internal/inventory", "internal/inventory/kube", "internal/inventory/yamlnode"},
	"internal/inventory/yamlnode":   {},                                                                                                                                                                                                                               // what YAML holds, and where
	"internal/inventory/release":    {"internal/shell", "internal/fault", "internal/infile", "internal/inventory", "internal/inventory/kube", "internal/registry", "internal/version", "internal/ociimage", "internal/ociimage/rootfs", "internal/inventory/podtext"}, // opens images as verify does
	"internal/inventory/cluster":    {"internal/fault", "internal/infile", "internal/inventory", "internal/inventory/kube"},                                                                                                                                           // the one reader that talks to an API server
	"internal/report/skewreport":    {"internal/autoescape", "internal/fault", "internal/finding", "internal/inventory", "internal/printable", "internal/report", "internal/shell", "internal/skew", "internal/version"},                                              // writes a result, makes none
	"internal/report/facts":         {"internal/autoescape", "internal/catalog", "internal/inventory"},                                                                                                                                                                // what is known and read, for people

	"internal/manifests/csidriver":         {"internal/shell", "internal/catalog", "internal/fault", "internal/inventory", "internal/manifests/csidriver/dsfacts", "internal/manifests/object", "internal/printable", "internal/version"},                                        // the catalog's facts as manifests; skew judges them and isn't known to it
	"internal/manifests/csidriver/dsfacts": {},                                                                                                                                                                                                                                   // leaf: two DaemonSets compared; knows no driver
	"internal/manifests/csidriver/present": {"internal/catalog", "internal/fault", "internal/inventory", "internal/inventory/kube", "internal/manifests/csidriver", "internal/shell"},                                                                                            // a present one, read as verify reads it
	"internal/manifests/object":            {},                                                                                                                                                                                                                                   // writes any object; knows none
	"internal/manifests/wmco":              {"internal/fault", "internal/version", "internal/winsvc"},                                                                                                                                                                            // the operator's services as data; writes nothing out
	"internal/manifests/precheck":          {"internal/fault", "internal/finding", "internal/manifests/object", "internal/printable", "internal/version"},                                                                                                                        // what runs internal/precheck, written out; starts nothing
	"internal/driver":                      {"internal/catalog", "internal/fault", "internal/inventory", "internal/manifests/csidriver", "internal/ociimage", "internal/pins", "internal/printable", "internal/source/gitsrc", "internal/stream", "internal/version", "payload"}, // the image around what compile built; nothing is written anywhere

	"internal/precheck": {"internal/catalog", "internal/event", "internal/finding", "internal/inventory", "internal/inventory/cluster", "internal/inventory/kube", "internal/printable", "internal/skew", "internal/version"}, // reads, judges and serves again and again; writes no report

	"internal/registry":        {"internal/fault", "internal/printable"},                                                                                                                                            // the one way to registries; knows no payload
	"internal/stream":          {},                                                                                                                                                                                  // leaf: content that passes through
	"internal/tarentry":        {},                                                                                                                                                                                  // leaf: names of tar entries
	"internal/winname":         {},                                                                                                                                                                                  // leaf: names of files on Windows
	"internal/ociimage":        {"internal/atomicfs", "internal/fault", "internal/finding", "internal/infile", "internal/printable", "internal/registry", "internal/shell", "internal/stream", "internal/tarentry"}, // images in layouts, tarballs and registries; knows nothing of what is in them
	"internal/ociimage/rootfs": {"internal/atomicfs", "internal/fault", "internal/finding", "internal/ociimage", "internal/printable", "internal/stream", "internal/tarentry", "internal/winname"},                  // layers merged; judges no file
	"payload":                  {"internal/atomicfs", "internal/fault", "internal/ociimage", "internal/stream", "internal/winname"},                                                                                 // public: others import it, so nothing of the pipeline may come along
	"payload/verify":           {"internal/atomicfs", "internal/infile", "internal/ociimage", "internal/ociimage/rootfs", "internal/printable", "internal/stream", "payload"},                                       // public: checks what is there, makes nothing

	"internal/winscript":             {},                                                                                                                                                                                                                                                                                                                                                   // leaf: reads text
	"packer/answer":                  {},                                                                                                                                                                                                                                                                                                                                                   // writes and reads XML, knows no Packer
	"packer/builder":                 {"internal/fault"},                                                                                                                                                                                                                                                                                                                                   // data, and its errors
	"packer/template":                {"internal/atomicfs", "internal/depth", "internal/fault", "internal/infile", "packer/answer", "packer/builder", "packer/internal/expression"},                                                                                                                                                                                                        // public, and pure but for writing its folder
	"packer/internal/expression":     {"internal/depth", "internal/fault", "internal/infile"},                                                                                                                                                                                                                                                                                              // Packer's functions, and values
	"packer/lint/internal/hclfolder": {"internal/fault", "internal/finding", "internal/infile", "internal/shell", "packer/internal/expression", "packer/lint/internal/notation", "packer/lint/internal/table"},                                                                                                                                                                             // what a template says, with values; judges nothing
	"packer/lint/internal/command":   {"internal/winscript"},                                                                                                                                                                                                                                                                                                                               // what commands do; judges nothing
	"packer/lint/internal/table":     {"internal/finding"},                                                                                                                                                                                                                                                                                                                                 // data
	"packer/lint/internal/secret":    {"internal/winscript", "packer/lint/internal/command"},                                                                                                                                                                                                                                                                                               // leaf: names and values
	"packer/lint":                    {"packer/builder", "packer/lint/internal/hclfolder", "packer/lint/internal/command", "packer/lint/internal/table", "packer/internal/expression", "packer/lint/internal/notation", "packer/lint/internal/secret", "internal/shell", "internal/depth", "internal/fault", "internal/finding", "internal/infile", "internal/winscript", "packer/answer"}, // reads any template, makes none
	"packer/lint/internal/notation":  {"internal/depth", "internal/winscript"},                                                                                                                                                                                                                                                                                                             // reads files, judges nothing

	"internal/attest":           {},                                                                                                                                                                                                                                                                                                                         // leaf: bytes that were signed, whatever they are
	"internal/catalog/signed":   {"internal/atomicfs", "internal/attest", "internal/catalog", "internal/fault", "internal/infile", "internal/ociimage"},                                                                                                                                                                                                     // fetches, keeps; the facts are the catalog's
	"internal/cli/app":          {"internal/console", "internal/event", "internal/fault", "internal/finding", "internal/printable", "internal/report"},                                                                                                                                                                                                      // also how answers are written
	"internal/cli/hosts":        {"internal/fault", "internal/infile", "internal/node", "internal/node/deploy", "internal/node/guest", "internal/node/wanted", "internal/pins", "payload/verify"},                                                                                                                                                           // which machines, for bake and verify
	"internal/cli/catalogflag":  {"internal/catalog", "internal/catalog/signed", "internal/cli/app"},                                                                                                                                                                                                                                                        // one flag of bake and verify; not in app, which verify.exe has too
	"internal/cli/clusterfiles": {"internal/atomicfs", "internal/catalog", "internal/cli/app", "internal/cli/catalogflag", "internal/event", "internal/fault", "internal/infile", "internal/manifests/csidriver", "internal/manifests/csidriver/present", "internal/manifests/object", "internal/manifests/precheck", "internal/shell", "internal/version"}, // bake without pins: no compiler, no store
	"internal/cli/bake": {"internal/cli/clusterfiles", "internal/cli/hosts", "internal/atomicfs", "internal/driver", "internal/inventory", "internal/inventory/release", "internal/shell", "internal/cas", "internal/catalog", "internal/cli/app", "internal/cli/catalogflag", "internal/compile", "internal/component", "internal/event", "internal/fault", "internal/finding",
		"internal/gotool", "internal/infile", "internal/manifests", "internal/manifests/csidriver", "internal/manifests/csidriver/present", "internal/manifests/object", "internal/manifests/precheck", "internal/manifests/wmco", "internal/pins", "internal/printable", "internal/resolve", "internal/source", "internal/source/gitsrc", "internal/source/gomod", "internal/version", "internal/winsvc", "packer/template", "payload", "internal/node", "internal/node/agent", "internal/node/deploy", "internal/node/guest", "internal/node/wanted", "internal/ociimage", "internal/stream", "payload/verify"},
	"internal/cli/verify": {"internal/accept", "internal/catalog/signed", "internal/cli/hosts", "internal/shell", "internal/cli/app", "internal/cli/catalogflag", "internal/event", "internal/catalog", "internal/expect", "internal/fault", "internal/finding", "internal/infile",
		"internal/inventory", "internal/inventory/cluster", "internal/inventory/kube", "internal/inventory/manifests", "internal/inventory/mustgather", "internal/inventory/release", "internal/inventory/resolve", "internal/manifests", "internal/registry",
		"internal/pe", "internal/pins", "internal/precheck", "internal/report", "internal/report/facts", "internal/report/skewreport", "internal/skew", "internal/version", "internal/wine", "packer/lint", "payload", "internal/node", "internal/node/deploy", "internal/node/guest", "internal/node/wanted", "internal/ociimage", "payload/verify"}, // no compiler, no store: verify changes nothing
	"internal/cli/nodecheck": {"internal/cli/app", "internal/fault", "internal/finding", "internal/infile", "internal/node", "internal/node/agent", "internal/node/firstboot", "internal/report"}, // verify.exe: see TestNodeStaysSmall
	"internal/testproxy":     {},                                                                                                                                                                  // for tests alone

	"hack/image":      {"internal/ociimage"}, // make image
	"cmd/bake":        {"internal/cli/app", "internal/cli/bake"},
	"cmd/verify":      {"internal/cli/app", "internal/cli/verify"},
	"cmd/verify/node": {"internal/cli/app", "internal/cli/nodecheck"},
}

// pure packages do no network and start no programs; only cli may print.
var forbidden = map[string][]string{
	"internal/pe":                {"net", "net/http", "os", "os/exec"},
	"internal/expect":            {"net", "net/http", "os", "os/exec"},
	"internal/accept":            {"internal/fault", "internal/finding", "internal/infile"}, // reads one file; lowers no finding
	"internal/finding":           {"net", "net/http", "os", "os/exec"},
	"internal/fault":             {"net", "net/http", "os", "os/exec"},
	"internal/event":             {"net", "net/http", "os", "os/exec"},
	"internal/pins":              {"net", "net/http", "os/exec"},
	"internal/cas":               {"net", "net/http", "os/exec"},
	"internal/report":            {"net", "net/http", "os", "os/exec"},
	"internal/report/skewreport": {"net", "net/http", "os", "os/exec"},
	"internal/version":           {"net", "net/http", "os", "os/exec"},
	"internal/manifests":         {"net", "net/http", "os", "os/exec"},
	"internal/winsvc":            {"net", "net/http", "os", "os/exec"},
	"internal/node":              {"net", "net/http", "os", "os/exec"},
	"packer/answer":              {"net", "net/http", "os", "os/exec"},
	"packer/builder":             {"net", "net/http", "os", "os/exec"},
	"packer/template":            {"net", "net/http", "os/exec"},
	"packer/lint":                {"net", "net/http", "os/exec"},
	"internal/catalog":           {"net", "net/http", "os/exec"},
	"internal/inventory":         {"net", "net/http", "os", "os/exec"},
	"internal/skew":              {"net", "net/http", "os", "os/exec"},
	"payload":                    {"os/exec"},

	"internal/manifests/csidriver":         {"net", "net/http", "os", "os/exec"},
	"internal/manifests/csidriver/dsfacts": {"net", "net/http", "os", "os/exec"},
	"internal/manifests/object":            {"net", "net/http", "os", "os/exec"},
	"internal/manifests/precheck":          {"net", "net/http", "os", "os/exec"},
	"internal/manifests/wmco":              {"net", "net/http", "os", "os/exec"},
}

type pkg struct {
	ImportPath, Dir  string
	GoFiles, Imports []string
}

func listPackages(t *testing.T) map[string]pkg {
	t.Helper()
	if err := program.Depend("../.."); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "./cmd/...", "./internal/...", "./packer/...", "./payload/...", "./hack/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := map[string]pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimPrefix(p.ImportPath, module)] = p
	}
}

func TestImportsRunDownwards(t *testing.T) {
	found := listPackages(t)
	for name, p := range found {
		allow, known := allowed[name]
		if !known {
			t.Errorf("package %s isn't in the list: say what it may import, and why", name)
			continue
		}
		for _, imp := range p.Imports {
			if own, ok := strings.CutPrefix(imp, module); ok && !slices.Contains(allow, own) {
				t.Errorf("%s imports %s, which the list doesn't allow", name, own)
			}
			banned := forbidden[name]
			if strings.HasPrefix(name, "internal/skew/") {
				banned = forbidden["internal/skew"]
			}
			if slices.Contains(banned, imp) {
				t.Errorf("%s imports %s: it does no network, starts no program and prints nothing", name, imp)
			}
		}
	}
	for name := range allowed {
		if _, ok := found[name]; !ok && name != "internal/testproxy" {
			t.Errorf("%s is in the list and not in the tree", name)
		}
	}
}

// bounded are the parsers of others that have no limit of depth, and who may
// use them.
var bounded = map[string][]string{
	"github.com/hashicorp/hcl/v2/hclparse": {"internal/depth"},
	"github.com/hashicorp/hcl/v2/json":     {"internal/depth"},
	"hclsyntax.Parse":                      {"internal/depth", "packer/template"}, // a call: the template's reads rules of our own
}

// What is nested without end reaches no parser that has no limit.
func TestParsersAreBounded(t *testing.T) {
	for name, p := range listPackages(t) {
		files, err := filepath.Glob(filepath.Join("../..", name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		uses := slices.Clone(p.Imports)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "_test.go") && bytes.Contains(text, []byte("hclsyntax.Parse")) {
				uses = append(uses, "hclsyntax.Parse")
			}
		}
		for _, use := range uses {
			if by, ok := bounded[use]; ok && !slices.Contains(by, name) {
				t.Errorf("%s uses %s, which has no limit of depth: internal/depth has one", name, use)
			}
		}
	}
}

// TestEveryRoomIsDescribed holds the table of docs/architecture.md to the
// packages that there are. A row may name several, `internal/{a,b}`, and all
// below a folder, `internal/a/...`.
func TestEveryRoomIsDescribed(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{} // and whether a package is described by it
	for row := range strings.Lines(string(page)) {
		if !strings.HasPrefix(row, "| `") {
			continue
		}
		name, _, _ := strings.Cut(row[len("| `"):], "`")
		prefix, rest, _ := strings.Cut(name, "{")
		for last := range strings.SplitSeq(strings.TrimSuffix(rest, "}"), ",") {
			rows[prefix+last] = false
		}
	}
	for name := range listPackages(t) {
		found := false
		for row := range rows {
			folder, below := strings.CutSuffix(row, "/...")
			if name == folder || below && strings.HasPrefix(name, folder+"/") {
				found, rows[row] = true, true
			}
		}
		if !found {
			t.Errorf("docs/architecture.md has no row for %s", name)
		}
	}
	for row, used := range rows {
		if !used && strings.HasPrefix(row, "internal/") {
			t.Errorf("docs/architecture.md has a row for %s, which isn't there", row)
		}
	}
}

// The public package is for others to import: it may pull in the registry
// client, and nothing of a command line.
func TestPayloadStaysLight(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./payload")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, heavy := range []string{"github.com/spf13/cobra", "github.com/goccy/go-yaml", "github.com/winbake/winbake/internal/compile", "k8s.io/"} {
		if strings.Contains(string(out), heavy) {
			t.Errorf("payload depends on %s", heavy)
		}
	}
}

// What judges reads, fetches and writes nothing, and neither does what it reaches:
// object makes the text that others write. It reaches no reader.
func TestSkewIsPure(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./internal/skew")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	pure := append(slices.Clone(ruleFamily), "internal/autoescape", "internal/fault", "internal/infile", "internal/manifests/csidriver", "internal/manifests/csidriver/dsfacts", "internal/manifests/object", "internal/printable", "internal/shell", "internal/strictyaml")
	for line := range strings.Lines(string(out)) {
		own, ok := strings.CutPrefix(strings.TrimSpace(line), module)
		if ok && !strings.HasPrefix(own, "internal/skew") && !slices.Contains(pure, own) {
			t.Errorf("internal/skew reaches %s", own)
		}
	}
}

// verify.exe is carried in images and copied to nodes for every check: it may
// hold nothing of a cluster, a registry or a compiler.
func TestNodeStaysSmall(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/verify/node")
	cmd.Dir = "../.."
	cmd.Env = append(cmd.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, heavy := range []string{"k8s.io/", "github.com/google/go-containerregistry", "github.com/goccy/go-yaml", "golang.org/x/crypto/ssh", module + "payload", module + "internal/compile"} {
		if strings.Contains(string(out), heavy) {
			t.Errorf("verify.exe depends on %s", heavy)
		}
	}
	if !strings.Contains(string(out), "golang.org/x/sys/windows/svc/mgr") {
		t.Error("verify.exe doesn't ask the service manager: are these the packages for Windows?")
	}
}

// advice is what no message may give: what is in the way is moved aside,
// replaced with a flag, or left where it is.
var advice = regexp.MustCompile("\\brm -|\\brm [-/~$'\"]|sc\\.exe delete|\\b(remove|delete) (it|this|them|these)\\b( one| file| folder)?(,|:|;|\"|`| and)")

func TestNoMessageAdvisesToDelete(t *testing.T) {
	literals := 0
	for where, p := range listPackages(t) {
		if strings.HasPrefix(where, "internal/skew/") {
			continue // a plan's steps take a DaemonSet away once its successor is known
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					literals++
					if said := advice.FindString(text.Value); said != "" {
						t.Errorf("%s in %s: %s", said, name, text.Value)
					}
				}
				return true
			})
		}
	}
	if literals < 5000 {
		t.Errorf("only %d strings were looked at", literals)
	}
}
