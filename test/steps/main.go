// Command steps runs the project's checks one after another, prints the
// seconds of each and the summed counts of their tests, and fails if one of
// them failed. It exists so that `make test` and CI show the same figures.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// step is one check. A go test step prints JSON events, which are counted.
type step struct {
	name string
	args []string
	test bool
	dir  string
}

// packer is a suite of its own and part of e2e: building Packer and its
// plugins takes half an hour where they aren't cached.
var packer = []step{
	{name: "Packer and its plugins", args: []string{"go", "run", "./test/packer/prepare"}},
	{name: "Packer on every template", args: []string{"go", "test", "-json", "-tags=e2e", "-count=1", "-timeout=30m", "./test/e2epacker/..."}, test: true},
	{name: "images by the Packer plugin", args: []string{"go", "test", "-json", "-tags=e2e", "-count=1", "-timeout=30m", "./e2e/..."}, test: true, dir: "packer/plugin"},
}

var suites = map[string][]step{
	"e2e-packer": packer,
	"test": {
		// One package of csi-proxy v1.3.0 takes the compiler minutes and 5 GB. Tests
		// that start side by side would each compile it.
		{name: "csi-proxy v1.3.0 of the tests", args: []string{"go", "run", "./cmd/bake", "build", "csi-proxy"}},
		{name: "csi-proxy v1.1.3 of the tests", args: []string{"go", "run", "./cmd/bake", "build", "csi-proxy", "-f", "examples/openshift-4.15/versions.yaml"}},
		{name: "vet", args: []string{"go", "vet", "./..."}},
		{name: "unit tests", args: []string{"go", "test", "-json", "-race", "-timeout=20m", "./cmd/...", "./internal/...", "./packer/...", "./payload/..."}, test: true},
		// Built on its own, so that no test's time limit has to hold it.
		{name: "Kubernetes' programs of the tests", args: []string{"go", "run", "./test/apiserver/prepare"}},
		{name: "command, import and docs tests", args: []string{"go", "test", "-json", "-timeout=20m", "./test/..."}, test: true},
		{name: "Packer plugin", args: []string{"go", "test", "-json", "-race", "-timeout=20m", "./..."}, test: true, dir: "packer/plugin"},
		{name: "pipelines of release CI", args: []string{"go", "test", "-json", "-timeout=20m", "./..."}, test: true, dir: "test/ci"},
	},
	"e2e": append([]step{
		{name: "full payloads from cold caches", args: []string{"go", "test", "-json", "-tags=e2e", "-count=1", "-timeout=50m", "./test/e2e/..."}, test: true},
	}, packer...),
}

// counts are the results of leaf tests: a test with subtests isn't counted
// beside them.
type counts struct{ passed, failed, skipped int }

func main() {
	var total counts
	var report []string
	failed := false
	for _, suite := range os.Args[1:] {
		steps, ok := suites[suite]
		if !ok {
			fmt.Fprintf(os.Stderr, "steps: no suite %q: test, e2e or e2e-packer\n", suite)
			os.Exit(1)
		}
		for _, s := range steps {
			began := time.Now()
			c, err := s.run()
			total.passed += c.passed
			total.failed += c.failed
			total.skipped += c.skipped
			state := "ok"
			if err != nil {
				state, failed = "FAILED: "+err.Error(), true
			}
			report = append(report, fmt.Sprintf("%-36s %6.1f s  %5d passed  %s", s.name, time.Since(began).Seconds(), c.passed, state))
			fmt.Println(report[len(report)-1])
		}
	}
	fmt.Println()
	fmt.Println(strings.Join(report, "\n"))
	fmt.Printf("%d passed, %d failed, %d skipped\n", total.passed, total.failed, total.skipped)
	if failed || total.passed == 0 {
		os.Exit(1)
	}
}

func (s step) run() (counts, error) {
	fmt.Printf("== %s\n", s.name)
	cmd := exec.Command(s.args[0], s.args[1:]...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	cmd.Stderr = os.Stderr
	if !s.test {
		cmd.Stdout = os.Stdout
		return counts{}, cmd.Run()
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return counts{}, err
	}
	if err := cmd.Start(); err != nil {
		return counts{}, err
	}
	c := count(out)
	err = cmd.Wait()
	if err == nil && c.passed == 0 {
		err = fmt.Errorf("no test ran")
	}
	return c, err
}

// event is a line of `go test -json` (go doc test2json).
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// count reads a run's events, prints the output of what failed, and a line
// for each package.
func count(r io.Reader) counts {
	results := map[string]string{}
	parents := map[string]bool{}
	output := map[string][]string{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Println(lines.Text()) // a build failure, in the compiler's own words
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			output[key] = append(output[key], e.Output)
		case "pass", "fail", "skip":
			finish(e, key, results, parents, output)
			delete(output, key)
		}
	}
	var c counts
	for key, result := range results {
		switch {
		case parents[key]:
		case result == "pass":
			c.passed++
		case result == "fail":
			c.failed++
		default:
			c.skipped++
		}
	}
	return c
}

func finish(e event, key string, results map[string]string, parents map[string]bool, output map[string][]string) {
	if e.Action == "fail" {
		fmt.Print(strings.Join(output[key], ""))
	}
	if e.Test == "" {
		if e.Action == "skip" {
			return // a package without tests
		}
		fmt.Printf("%-5s %-60s %6.1f s\n", e.Action, e.Package, e.Elapsed)
		return
	}
	results[key] = e.Action
	if i := strings.LastIndex(e.Test, "/"); i >= 0 {
		parents[e.Package+" "+e.Test[:i]] = true
	}
}
