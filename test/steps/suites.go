package main

import (
	"bufio"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// concurrent are the packages that start goroutines: their tests run
// with the race detector, under which the others would take minutes for
// nothing. A test holds the list complete.
var concurrent = []string{
	"./internal/cli/app",
	"./internal/cli/bake",
	"./internal/cli/verify",
	"./internal/build/compile",
	"./internal/base/console",
	"./internal/cluster/inventory/cluster",
	"./internal/windows/agent",
	"./internal/base/proc",
	"./internal/build/resolve",
	"./internal/build/source/gomod",
	"./payload",
}

// fast are the packages of make test: what they need is Go and git.
var fast = []string{
	"./cmd/...", "./hack/...", "./internal/...", "./packer/...", "./payload/...",
	"./test/docs", "./test/images", "./test/imports", "./test/script", "./test/skew", "./test/steps", "./test/support/...",
}

// tagged are the tests of those packages that need more: they have the tag e2e.
func tagged() ([]string, error) {
	packages, names := map[string]bool{}, []string{}
	for _, root := range []string{"internal", "packer", "payload", "test/docs", "test/images"} {
		err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() && slices.Contains([]string{"packer/plugin", "test/images/proof", "test/images/readers", "test/images/real"}, filepath.ToSlash(file)) {
				return fs.SkipDir
			}
			if !strings.HasSuffix(file, "_test.go") {
				return nil
			}
			found, err := taggedTests(file)
			if len(found) > 0 {
				packages["./"+path.Dir(filepath.ToSlash(file))] = true
				names = append(names, found...)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return append([]string{"-run=^(" + strings.Join(names, "|") + ")$"}, slices.Sorted(maps.Keys(packages))...), nil
}

var testFunc = regexp.MustCompile(`^func (Test\w+)\(`)

// taggedTests are the tests of a file with the tag e2e.
func taggedTests(file string) (names []string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	is := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if constraint, ok := strings.CutPrefix(lines.Text(), "//go:build "); ok {
			is = strings.Contains(constraint, "e2e")
		}
		if is {
			if m := testFunc.FindStringSubmatch(lines.Text()); m != nil {
				names = append(names, m[1])
			}
		}
	}
	return names, lines.Err()
}

// Steps that others need.
const (
	csiProxy    = "csi-proxy v1.3.0 of the tests"
	packerBuild = "Packer and its plugins"
	pluginBuild = "packages of the Packer plugin"
)

// gotest is a step of go test; args are its flags and packages.
func gotest(name, timeout string, args ...string) step {
	return step{name: name, args: append([]string{"go", "test", "-json", "-vet=off", "-timeout=" + timeout}, args...), test: true}
}

// after has a step wait for one that runs beside it.
func (s step) after(needs string) step { s.needs = needs; return s }

// in has a step run in a module of its own. Such tests read files outside of their
// module, where the go command doesn't see that a result is an old one.
func (s step) in(dir string) step {
	s.dir = dir
	s.args = slices.Insert(slices.Clone(s.args), 2, "-count=1")
	return s
}

// asking has a step ask for more of its arguments when it starts.
func (s step) asking(packages func() ([]string, error)) step { s.packages = packages; return s }

// aside has a step run beside others, at a low priority.
func (s step) aside() step {
	s.args, s.beside = append([]string{"nice", "-n19"}, s.args...), true
	return s
}

// What several parts of make e2e need is made once, before them.
var (
	system = step{name: "packages of the system", args: []string{"test/deps.sh"}}
	// One package of csi-proxy v1.3.0 takes the compiler minutes, one core and
	// 8 GB. Tests that start side by side would each compile it.
	newProxy = step{name: csiProxy, args: []string{"go", "run", "./cmd/bake", "build", "csi-proxy"}, beside: true}
	oldProxy = step{name: "csi-proxy v1.1.3 of the tests", args: []string{"go", "run", "./cmd/bake", "build", "csi-proxy", "-f", "examples/openshift-4.15/versions.yaml"}}
	// Built on their own, so that no test's time limit has to hold it.
	kubernetes = step{name: "Kubernetes' programs of the tests", args: []string{"go", "run", "./test/cluster/apiserver/prepare"}}
	// Where Packer and its plugins aren't cached they take ten minutes, most of
	// which are spent waiting for modules and for one large package at a time.
	packer = step{name: packerBuild, args: []string{"go", "run", "./test/packer/prepare"}}.aside()
	// The full payloads are compiled for most of an hour, and the other steps wait
	// half of their time: side by side they take two cores as long as both
	// compute. At this priority nothing else gets slower.
	payloads = gotest("full payloads", "90m", "-tags=e2e", "-count=1", "./test/e2e/...").after(csiProxy).aside()
	// It waits for npm's registry most of its time.
	renovate = gotest("versions.yaml read by Renovate", "40m", "-tags=e2e", "-count=1", "-run=TestRenovateItself", "./test/release/integrations").aside()
	plugin   = step{name: pluginBuild, args: []string{"go", "test", "-race", "-exec=true", "./..."}, dir: "packer/plugin"}.aside()
)

// parts are those of make e2e, each of which runs alone as make e2e-NAME.
var parts = map[string][]step{
	"payload": {newProxy, payloads},
	"race": {
		{name: "vet", args: []string{"go", "vet", "./..."}},
		{name: "packages for -race", args: append([]string{"go", "build", "-race"}, concurrent...)},
		gotest("what runs side by side, with -race", "20m", append([]string{"-race"}, concurrent...)...),
	},
	"cluster": {
		newProxy, kubernetes, oldProxy,
		gotest("tests on an API server", "40m", "-p=4", "./test/cluster/states", "./test/cluster/walkthrough", "./test/cluster/...", "./test/html", "./test/bench").after(csiProxy),
	},
	"wine": {
		newProxy, kubernetes, oldProxy,
		gotest("tests in Wine", "40m", "-p=4", "./test/wine/node", "./test/wine/winenode", "./test/wine/...").after(csiProxy),
		gotest("a node by Ansible", "20m", "-tags=e2e", "-count=1", "-run=TestAnsible", "./test/wine/node"),
	},
	"images": {
		newProxy,
		gotest("an image in every reader", "20m", "-tags=e2e", "-count=1", "-parallel=6", "./test/images/readers/...").after(csiProxy),
		gotest("what was really built", "40m", "./test/images/real"),
		gotest("what needs programs of the system, or long compiles", "40m", "-tags=e2e", "-count=1").asking(tagged),
	},
	// It compiles cosign, and isn't a part of make e2e.
	"proof": {gotest("signatures, by cosign", "40m", "./test/images/proof")},
	"release": {
		renovate,
		gotest("releases and their users", "40m", "./test/release/..."),
		step{name: "vet of the pipelines' tests", args: []string{"go", "vet", "./..."}, dir: "test/release/ci"},
		gotest("pipelines of release CI", "20m", "./...").in("test/release/ci"),
		step{name: "vet of the catalog's maker", args: []string{"go", "vet", "./..."}, dir: "hack/catalog"},
		gotest("maker of the catalog", "20m", "./...").in("hack/catalog"),
	},
	"packer": {
		plugin, packer,
		gotest("Packer plugin", "20m", "-race", "./...").after(pluginBuild).in("packer/plugin"),
		gotest("Packer on every template", "40m", "-tags=e2e", "-count=1", "./test/packer/e2epacker/...").after(packerBuild),
		// Packer waits most of a build's time, for restarts and for answers.
		gotest("images by the Packer plugin", "40m", "-tags=e2e", "-parallel=6", "./e2e/...").in("packer/plugin"),
	},
}

var suites = func() map[string][]step {
	all := map[string][]step{
		"test": {
			gotest("tests that need Go and git", "20m", fast...),
			gotest("verdicts of 200 states", "20m", "-run=^(TestStates|TestStatesAreWhole|TestSteps|TestDimensions|TestElsewhere|TestRoutine|TestFirstScreen)$", "./test/cluster/states"),
		},
		// What is compiled beside others starts first: it takes longest.
		"e2e": join([]step{system, newProxy, packer, renovate}, parts["race"], []step{kubernetes, payloads}, parts["cluster"], parts["wine"], parts["images"], parts["release"], parts["packer"]),
	}
	for name, steps := range parts {
		all["e2e-"+name] = join([]step{system}, steps)
	}
	// A kubelet changes more of the machine than the tests of make e2e do.
	all["e2e-cluster"] = append(all["e2e-cluster"], gotest("a real cluster, with Tekton", "40m", "-tags=cluster", "-count=1", "./test/cluster/tekton"))
	return all
}()

// join leaves out what came before.
func join(lists ...[]step) (all []step) {
	for _, s := range slices.Concat(lists...) {
		if !slices.ContainsFunc(all, func(o step) bool { return o.name == s.name }) {
			all = append(all, s)
		}
	}
	return all
}
