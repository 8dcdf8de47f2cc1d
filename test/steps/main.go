// Command steps runs the project's checks one after another, prints the
// seconds of each and the summed counts of their tests, and fails if one of
// them failed. It exists so that `make test` and CI show the same figures.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// step is one check. A go test step prints JSON events, which are counted.
type step struct {
	name     string
	args     []string
	packages func() ([]string, error) // more args, where they have to be asked for
	test     bool
	beside   bool   // others run at the same time, until one needs it
	needs    string // a step beside that has to have ended
	dir      string
}

// counts are the results of leaf tests: a test with subtests isn't counted
// beside them.
type counts struct{ passed, failed, skipped int }

func main() {
	var r runner
	for _, suite := range os.Args[1:] {
		steps, ok := suites[suite]
		if !ok {
			fmt.Fprintf(os.Stderr, "steps: no suite %q: %s\n", suite, strings.Join(slices.Sorted(maps.Keys(suites)), ", "))
			os.Exit(1)
		}
		for _, s := range steps {
			r.run(s)
		}
		r.wait(func(running) bool { return true })
	}
	fmt.Println()
	fmt.Println(strings.Join(r.report, "\n"))
	fmt.Printf("%d passed, %d failed, %d skipped\n", r.total.passed, r.total.failed, r.total.skipped)
	if r.failed || r.total.passed == 0 {
		os.Exit(1)
	}
}

// runner runs steps one after another, but for those that are marked to run
// beside others.
type runner struct {
	total  counts
	report []string
	failed bool
	beside []running
}

// running is a step that runs beside others.
type running struct {
	name string
	done chan result
}

// result is what a step ended with.
type result struct {
	step step
	took time.Duration
	cpu  time.Duration // of all its processes
	counts
	err error
}

func (r *runner) run(s step) {
	r.wait(func(b running) bool { return b.name == s.needs })
	done := make(chan result, 1)
	start := func() {
		began := time.Now()
		c, cpu, err := s.run()
		done <- result{s, time.Since(began), cpu, c, err}
	}
	if s.beside {
		r.beside = append(r.beside, running{s.name, done})
		go start()
		return
	}
	start()
	r.add(<-done)
}

// wait waits for those of the steps that run beside others which due names.
func (r *runner) wait(due func(running) bool) {
	for _, b := range r.beside {
		if due(b) {
			r.add(<-b.done)
		}
	}
	r.beside = slices.DeleteFunc(r.beside, due)
}

func (r *runner) add(res result) {
	r.total.passed += res.passed
	r.total.failed += res.failed
	r.total.skipped += res.skipped
	state := "ok"
	if res.err != nil {
		state, r.failed = "FAILED: "+res.err.Error(), true
	}
	line := fmt.Sprintf("%-36s %6.1f s  %6.1f s of CPU  %5d passed  %s", res.step.name, res.took.Seconds(), res.cpu.Seconds(), res.passed, state)
	r.report = append(r.report, line)
	fmt.Println(line)
}

// env makes all steps, and what they build in turn, compile each package in one
// way, that of `make bin`: three ways cost a machine without caches minutes. The
// race detector needs cgo, and a way of its own. Steps that only compile have the
// compiler collect its garbage less often, which saves a quarter of its time;
// tests measure memory.
func (s step) env() []string {
	env := []string{"GOFLAGS=-trimpath"}
	if !slices.Contains(s.args, "-race") {
		env = append(env, "CGO_ENABLED=0")
	}
	if !s.test {
		env = append(env, "GOGC=400")
	}
	return env
}

func (s step) run() (counts, time.Duration, error) {
	fmt.Printf("== %s\n", s.name)
	args := s.args
	if s.packages != nil {
		packages, err := s.packages()
		if err != nil {
			return counts{}, 0, err
		}
		args = slices.Concat(args, packages)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), s.env()...)
	cmd.Stderr = os.Stderr
	if !s.test {
		cmd.Stdout = os.Stdout
		err := cmd.Run()
		return counts{}, cpu(cmd), err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return counts{}, 0, err
	}
	if err := cmd.Start(); err != nil {
		return counts{}, 0, err
	}
	c := count(out, os.Stdout)
	err = cmd.Wait()
	if err == nil && c.passed == 0 {
		err = errors.New("no test ran")
	}
	return c, cpu(cmd), err
}

// cpu is what a command that has ended used of the processors, with the processes
// that it waited for.
func cpu(cmd *exec.Cmd) time.Duration {
	if cmd.ProcessState == nil {
		return 0
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// event is a line of `go test -json` (go doc test2json).
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// count reads a run's events, prints the output of what failed, and a line
// for each package.
func count(r io.Reader, w io.Writer) counts {
	results := map[string]string{}
	parents := map[string]bool{}
	output := map[string][]string{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(w, lines.Text()) // a build failure, in the compiler's own words
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			output[key] = append(output[key], e.Output)
		case "pass", "fail", "skip":
			finish(w, e, key, results, parents, output)
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

func finish(w io.Writer, e event, key string, results map[string]string, parents map[string]bool, output map[string][]string) {
	if e.Action == "fail" {
		fmt.Fprint(w, strings.Join(output[key], ""))
	}
	if e.Test == "" {
		if e.Action == "skip" {
			return // a package without tests
		}
		// A process that was killed, or that panicked, ends none of its tests: why is in the
		// output of one of them.
		for _, unfinished := range slices.Sorted(maps.Keys(output)) {
			if e.Action == "fail" && strings.HasPrefix(unfinished, key) && unfinished != key {
				fmt.Fprint(w, strings.Join(output[unfinished], ""))
			}
		}
		fmt.Fprintf(w, "%-5s %-60s %6.1f s\n", e.Action, e.Package, e.Elapsed)
		return
	}
	results[key] = e.Action
	if i := strings.LastIndex(e.Test, "/"); i >= 0 {
		parents[e.Package+" "+e.Test[:i]] = true
	}
}
