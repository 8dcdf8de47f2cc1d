// Command bench measures bake and verify against the usual ways of doing the
// same, on the real payload. It fails on ratios, which are taken within one
// run; seconds are printed and decide nothing.
//
// Each piece of work runs in a process of its own, and its CPU time and peak
// memory are the kernel's figures for that process and its children.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/winbake/winbake/internal/pins"
)

// input is one file of the payload, where it lies now.
type input struct {
	Component, Payload, Path, Digest string
	Store                            string // the cache that holds it
	Size                             int64
}

// usage is what a piece of work cost.
type usage struct {
	cpu, wall time.Duration
	peak      int64 // bytes, of the largest process
	size      int64 // bytes of the layout that it wrote, if any
}

func main() {
	out := flag.String("write", "", "write the table into this document, between its markers")
	child := flag.String("child", "", "internal: the work that this process does")
	flag.Parse()
	if *child != "" {
		check(work(*child, flag.Arg(0), flag.Arg(1)))
		return
	}
	b := &bench{dir: must(os.MkdirTemp("", "winbake-bench-"))}
	defer os.RemoveAll(b.dir)
	b.load()
	b.packing()
	b.nothingChanged()
	b.oneFileChanged()
	b.verify()
	table := b.table()
	fmt.Print(table)
	if *out != "" {
		check(insert(*out, table))
	}
	if b.missed > 0 {
		fmt.Fprintf(os.Stderr, "bench: %d goals were missed\n", b.missed)
		os.RemoveAll(b.dir)
		os.Exit(1) //nolint:gocritic // removed just above
	}
}

// bench is one run.
type bench struct {
	dir    string
	inputs []input
	rows   [][]string
	missed int
	a      usage // baseline A, packing alone
}

// load asks bake where the built files are.
func (b *bench) load() {
	if _, err := os.Stat("bin/bake"); err != nil {
		fmt.Fprintln(os.Stderr, "bench: no bin/bake\nfix: make payload")
		os.Exit(1)
	}
	var built []input
	check(json.Unmarshal(output("bin/bake", "build", "-q", "-o", "json"), &built))
	cache := strings.TrimSpace(string(output("bin/bake", "cache", "path")))
	places := map[string]string{}
	var listed []input
	check(json.Unmarshal(output("bin/bake", "list", "-o", "json"), &listed))
	for _, l := range listed {
		places[l.Component] = l.Payload
	}
	for _, f := range built {
		f.Payload, f.Store = places[f.Component], cache
		b.inputs = append(b.inputs, f)
	}
	check(os.WriteFile(b.list(), must(json.Marshal(b.inputs)), 0o644))
}

func (b *bench) list() string { return filepath.Join(b.dir, "inputs.json") }

// child runs one piece of work in a process of its own, into a new folder.
func (b *bench) child(name string) usage {
	dir := filepath.Join(b.dir, name)
	check(os.RemoveAll(dir))
	check(os.MkdirAll(dir, 0o755))
	u := run(exec.Command(must(os.Executable()), "-child", name, b.list(), dir))
	u.size = treeSize(filepath.Join(dir, "layout"))
	return u
}

func (b *bench) packing() {
	b.a = b.child("A")
	archived := b.child("archived")
	b.goal("packing, archived: CPU of A / ours", ratio(b.a.cpu, archived.cpu), 8, true, b.a, archived)
	b.goal("packing, archived: size of ours / A", float64(archived.size)/float64(b.a.size), 1.08, false, b.a, archived)
	flat := b.child("B")
	for _, c := range []struct {
		name string
		cpu  float64
	}{{"flat-gzip", 2}, {"flat-zstd", 4}} {
		ours := b.child(c.name)
		b.goal("packing, "+c.name+": CPU of B / ours", ratio(flat.cpu, ours.cpu), c.cpu, true, flat, ours)
		b.goal("packing, "+c.name+": size of ours / B", float64(ours.size)/float64(flat.size), 1, false, flat, ours)
	}
}

// nothingChanged compares bake with A done again: each program is asked of
// the go command with warm caches and its output in place, then A packs.
func (b *bench) nothingChanged() {
	check(b.buildAll()) // links what isn't there yet, uncounted
	began := time.Now()
	check(b.buildAll())
	again := usage{wall: time.Since(began) + b.a.wall}
	run(exec.Command("bin/bake", "payload", "-q"))
	ours := run(exec.Command("bin/bake", "payload", "-q"))
	b.goal("nothing changed: wall of A again / bake payload", ratio(again.wall, ours.wall), 50, true, again, ours)
}

// buildAll runs go build for each program in its synthetic module.
func (b *bench) buildAll() error {
	file, err := pins.Load("versions.yaml")
	if err != nil {
		return err
	}
	for i := range file.Components {
		c := &file.Components[i]
		if !c.Program() {
			continue
		}
		dir := filepath.Join(b.dir, "modules", c.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for _, f := range []string{"go.mod", "go.sum"} {
			if err := copyFile(filepath.Join("versions.lock", c.Name, f), filepath.Join(dir, f)); err != nil {
				return err
			}
		}
		cmd := exec.Command("go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-o", "out.exe", c.BuildPackage())
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", c.Package, err, out)
		}
	}
	return nil
}

// oneFileChanged edits the smallest component in a copy of the project.
func (b *bench) oneFileChanged() {
	cache := strings.TrimSpace(string(output("bin/bake", "cache", "path")))
	project := filepath.Join(b.dir, "project")
	check(os.MkdirAll(filepath.Join(project, "payload"), 0o755))
	for _, args := range [][]string{
		{"cp", "-al", cache, filepath.Join(b.dir, "cache")}, // links: artifacts aren't copied
		{"cp", "-r", "versions.yaml", "versions.lock", project},
		{"cp", "-r", "payload/files", filepath.Join(project, "payload")},
	} {
		output(args[0], args[1:]...)
	}
	conf := filepath.Join(project, "payload/files/containerd_conf.toml")
	check(os.WriteFile(conf, append(must(os.ReadFile(conf)), "# changed\n"...), 0o644))
	sum := strings.Fields(string(output("sha256sum", conf)))[0]
	yaml := filepath.Join(project, "versions.yaml")
	args := []string{"-q", "-f", yaml, "--cache-dir", filepath.Join(b.dir, "cache"), "--format", "archived", "--layout", filepath.Join(b.dir, "changed")}
	// Fills the cache of members.
	run(exec.Command("bin/bake", "payload", "-q", "--cache-dir", filepath.Join(b.dir, "cache"), "--format", "archived", "--layout", filepath.Join(b.dir, "unchanged")))
	output("bin/bake", "pin", "-q", "-f", yaml, "containerd-config@"+sum)
	changed := run(exec.Command("bin/bake", append([]string{"payload"}, args...)...))
	full := b.child("archived")
	b.goal("one file changed, archived: CPU of all / of the change", ratio(full.cpu, changed.cpu), 2, true, full, changed)
	repack := run(exec.Command("bin/bake", "payload", "-q", "-f", yaml, "--cache-dir", filepath.Join(b.dir, "cache"), "--format", "flat", "--layout", filepath.Join(b.dir, "repacked")))
	b.row("peak memory of bake, flat layer packed", "-", fmt.Sprintf("%.0f MB", float64(repack.peak)/1e6), "at most 150 MB", repack.peak <= 150e6)
}

func (b *bench) verify() {
	layout := filepath.Join(b.dir, "verify")
	output("bin/bake", "payload", "-q", "--layout", layout)
	plain := run(exec.Command(must(os.Executable()), "-child", "inflate", b.list(), layout))
	ours := run(exec.Command("bin/verify", "payload", "-q", layout, "-f", "versions.yaml"))
	b.goal("verify payload: wall / hashing and inflating", ratio(ours.wall, plain.wall), 2, false, plain, ours)
}

// goal adds a row with a ratio that has to be at least, or at most, limit.
func (b *bench) goal(name string, got, limit float64, atLeast bool, base, ours usage) {
	ok, word := got <= limit, "at most"
	if atLeast {
		ok, word = got >= limit, "at least"
	}
	figures := func(u usage) string {
		s := fmt.Sprintf("%.2f s CPU, %.2f s", u.cpu.Seconds(), u.wall.Seconds())
		if u.size > 0 {
			s += fmt.Sprintf(", %.1f MB", float64(u.size)/1e6)
		}
		return s
	}
	b.row(name, figures(base), figures(ours), fmt.Sprintf("%.2f (%s %g)", got, word, limit), ok)
}

func (b *bench) row(name, base, ours, result string, ok bool) {
	mark := "met"
	if !ok {
		mark = "MISSED"
		b.missed++
	}
	b.rows = append(b.rows, []string{name, base, ours, result, mark})
	fmt.Fprintf(os.Stderr, "%s: %s %s\n", name, result, mark)
}

func (b *bench) table() string {
	var s strings.Builder
	s.WriteString("| what | baseline | ours | ratio | goal |\n|---|---|---|---|---|\n")
	for _, r := range b.rows {
		s.WriteString("| " + strings.Join(r, " | ") + " |\n")
	}
	return s.String()
}

func ratio(a, b time.Duration) float64 { return a.Seconds() / b.Seconds() }

// run runs a command and returns the kernel's figures for it.
func run(cmd *exec.Cmd) usage {
	var log bytes.Buffer
	cmd.Stderr = &log
	began := time.Now()
	if err := cmd.Run(); err != nil {
		check(fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, log.String()))
	}
	u := usage{wall: time.Since(began), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.peak = r.Maxrss << 10
	}
	return u
}

func output(name string, args ...string) []byte {
	out, err := exec.Command(name, args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w\n%s", err, exit.Stderr)
	}
	check(err)
	return out
}

// insert puts the table between the markers of a document.
func insert(path, table string) error {
	const begin, end = "<!-- bench -->\n", "<!-- /bench -->\n"
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no markers", path)
	}
	return os.WriteFile(path, []byte(head+begin+table+end+tail), 0o644)
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
