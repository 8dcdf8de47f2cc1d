package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// concurrent are the packages that do things side by side: their tests run
// with the race detector, under which the others would take minutes for
// nothing. A test holds the list complete.
var concurrent = []string{
	"./internal/cluster/catalog",
	"./internal/cli/app",
	"./internal/cli/bake",
	"./internal/cli/verify",
	"./internal/build/compile",
	"./internal/base/console",
	"./internal/cluster/inventory/cluster",
	"./internal/cluster/inventory/kube",
	"./internal/cluster/manifests/csidriver",
	"./internal/cluster/manifests/csidriver/dsfacts",
	"./internal/cluster/manifests/wmco",
	"./internal/windows/agent",
	"./internal/image/oci",
	"./internal/image/rootfs",
	"./internal/base/proc",
	"./internal/image/registry",
	"./internal/build/resolve",
	"./internal/skew/action",
	"./internal/skew/rules",
	"./internal/build/source/gomod",
	"./internal/base/stream",
	"./internal/base/strictyaml",
	"./packer/template",
	"./payload",
	"./payload/verify",
}

// sequential are all other packages with code that is shipped.
func sequential() ([]string, error) {
	const module = "github.com/winbake/winbake"
	out, err := exec.Command("go", "list", "./cmd/...", "./internal/...", "./packer/...", "./payload/...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(p string) bool {
		return slices.Contains(concurrent, "."+strings.TrimPrefix(p, module))
	}), nil
}

// longest are the packages below test that take minutes. The go command starts
// packages in the order in which it's given them: of these, none is left alone at
// the end.
var longest = []string{"./test/cluster/states", "./test/wine/node", "./test/cluster/walkthrough", "./test/wine/winenode", "./test/script", "./test/images/real", "./test/wine/windows"}

// Steps that others need.
const (
	csiProxy    = "csi-proxy v1.3.0 of the tests"
	packerBuild = "Packer and its plugins"
	pluginBuild = "packages of the Packer plugin"
	catalogVet  = "vet of the catalog's maker"
	ciVet       = "vet of the pipelines' tests"
	unitTests   = "unit tests"
)

var suites = map[string][]step{"test": tests, "e2e": e2e, "ci": ci(), "e2e-packer": append([]step{packerPrepare}, packerTests...)}

var tests = []step{
	// One package of csi-proxy v1.3.0 takes the compiler minutes, one core and
	// 8 GB. Tests that start side by side would each compile it.
	{name: csiProxy, args: []string{"go", "run", "./cmd/bake", "build", "csi-proxy"}, beside: true},
	{name: "vet", args: []string{"go", "vet", "./..."}},
	// Built on their own, so that no test's time limit has to hold it.
	{name: "Kubernetes' programs of the tests", args: []string{"go", "run", "./test/cluster/apiserver/prepare"}},
	{name: "csi-proxy v1.1.3 of the tests", args: []string{"go", "run", "./cmd/bake", "build", "csi-proxy", "-f", "examples/openshift-4.15/versions.yaml"}},
	// They were vetted above, with more than go test asks of them.
	{name: unitTests, args: []string{"go", "test", "-json", "-vet=off", "-timeout=20m"}, packages: sequential, needs: csiProxy, test: true},
	{name: "packages for -race", args: append([]string{"go", "build", "-race"}, concurrent...)},
	{name: "what runs side by side, with -race", args: append([]string{"go", "test", "-json", "-vet=off", "-race", "-timeout=20m"}, concurrent...), test: true},
	// What comes next is compiled meanwhile, and not yet run: these wait more
	// than they work.
	{name: pluginBuild, args: []string{"nice", "go", "test", "-race", "-exec=true", "./..."}, beside: true, dir: "packer/plugin"},
	{name: catalogVet, args: []string{"nice", "go", "vet", "./..."}, beside: true, dir: "hack/catalog"},
	{name: ciVet, args: []string{"nice", "go", "vet", "./..."}, beside: true, dir: "test/release/ci"},
	{name: "command, import and docs tests", args: slices.Concat([]string{"go", "test", "-json", "-vet=off", "-p=4", "-timeout=40m"}, longest, []string{"./test/..."}), test: true},
	// This module's tests and those of the pipelines read files outside of their
	// module, where the go command doesn't see that a result is an old one.
	{name: "Packer plugin", args: []string{"go", "test", "-json", "-race", "-count=1", "-timeout=20m", "./..."}, needs: pluginBuild, test: true, dir: "packer/plugin"},
	{name: "maker of the catalog", args: []string{"go", "test", "-json", "-vet=off", "-timeout=20m", "./..."}, needs: catalogVet, test: true, dir: "hack/catalog"},
	{name: "pipelines of release CI", args: []string{"go", "test", "-json", "-vet=off", "-count=1", "-timeout=20m", "./..."}, needs: ciVet, test: true, dir: "test/release/ci"},
}

// The full payloads are compiled for most of an hour, and the other steps wait
// half of their time: side by side they take two cores as long as both
// compute. At this priority nothing else gets slower.
var payloads = step{name: "full payloads", args: []string{"nice", "-n19", "go", "test", "-json", "-tags=e2e", "-count=1", "-timeout=90m", "./test/e2e/..."}, beside: true, test: true}

// Where Packer and its plugins aren't cached they take ten minutes, most of
// which are spent waiting for modules and for one large package at a time.
var (
	packerPrepare = step{name: packerBuild, args: []string{"nice", "go", "run", "./test/packer/prepare"}, beside: true}
	packerTests   = []step{
		{name: "Packer on every template", args: []string{"go", "test", "-json", "-tags=e2e", "-count=1", "-timeout=40m", "./test/packer/e2epacker/..."}, needs: packerBuild, test: true},
		// Packer waits most of a build's time, for restarts and for answers.
		{name: "images by the Packer plugin", args: []string{"go", "test", "-json", "-tags=e2e", "-count=1", "-parallel=6", "-timeout=40m", "./e2e/..."}, test: true, dir: "packer/plugin"},
	}
	// It waits for npm's registry most of its time.
	renovate = step{name: "versions.yaml read by Renovate", args: []string{"nice", "go", "test", "-json", "-vet=off", "-tags=e2e", "-count=1", "-timeout=40m", "-run=TestRenovateItself", "./test/release/integrations"}, beside: true, test: true}
	ansible  = step{name: "a node by Ansible", args: []string{"go", "test", "-json", "-vet=off", "-tags=e2e", "-count=1", "-timeout=20m", "-run=TestAnsible", "./test/wine/node"}, test: true}
	readers  = step{name: "an image in every reader", args: []string{"go", "test", "-json", "-tags=e2e", "-count=1", "-parallel=6", "-timeout=20m", "./test/images/readers/..."}, test: true}
)

var e2e = slices.Concat([]step{payloads, renovate, packerPrepare, ansible, readers}, packerTests)

// ci is test and e2e. What e2e compiles starts after csi-proxy of the tests:
// two such compilers at once need 16 GB.
func ci() []step {
	i := slices.IndexFunc(tests, func(s step) bool { return s.name == unitTests })
	beside := payloads
	beside.needs = csiProxy
	return slices.Concat(tests[:i], []step{beside, renovate, packerPrepare}, tests[i:], []step{ansible, readers}, packerTests)
}
