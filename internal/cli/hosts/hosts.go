// Package hosts is how commands name the machines that they work on, one or a
// fleet: --ssh and --hosts, and the work on some at a time.
//
// What is done on a machine is its callers'.
package hosts

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/wanted"
	"github.com/winbake/winbake/internal/windows/deploy"
	"github.com/winbake/winbake/internal/windows/guest"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/payload/verify"
)

// Flags are the flags that say which machines, and how they are reached.
type Flags struct {
	Guest guest.Options

	ssh        []string
	file, user string
	parallel   int
	limit      time.Duration // for one machine
	mayFail    string
	allowed    int // how many may fail, of those that Targets returned
}

// Register adds the flags to f. mayFail is the default of --max-failures.
func (h *Flags) Register(f *pflag.FlagSet, mayFail string) {
	f.StringArrayVar(&h.ssh, "ssh", nil, "the node: [USER@]HOST[:PORT]; may be repeated")
	f.StringVar(&h.file, "hosts", "", "file with a node per line, - for stdin")
	f.StringVar(&h.user, "user", "", "user for nodes that are named without one")
	f.StringVar(&h.Guest.Config, "ssh-config", "", "ssh's configuration (default ssh's own; none for none)")
	f.StringArrayVar(&h.Guest.KnownHosts, "known-hosts", nil, "file to check the node's key against (default ssh's own); may be repeated")
	f.StringArrayVarP(&h.Guest.Identities, "identity", "i", nil, "private key to log in with (default the agent's and ssh's own); may be repeated")
	f.IntVar(&h.parallel, "parallel", 4, "how many nodes are worked on at a time")
	f.DurationVar(&h.limit, "node-timeout", 30*time.Minute, "how long the work on a node may take")
	f.StringVar(&h.mayFail, "max-failures", mayFail, "how many nodes may fail, as a number or a share such as 20%, before no more are begun")
}

// Targets are the machines that were named, each once.
func (h *Flags) Targets(stdin io.Reader) ([]guest.Target, error) {
	if h.parallel < 1 || h.limit <= 0 {
		return nil, &fault.Error{What: "--parallel can't be less than 1, and --node-timeout is longer than 0", Fix: "--parallel 4, --node-timeout 30m"}
	}
	var all []guest.Target
	for _, s := range h.ssh {
		if err := h.add(&all, s, ""); err != nil {
			return nil, err
		}
	}
	if h.file != "" {
		if err := h.addFile(&all, stdin); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, &fault.Error{What: "which node? neither --ssh nor --hosts names one", Fix: "--ssh Administrator@node1.example.com, or --hosts FILE with a node per line"}
	}
	var err error
	h.allowed, err = share(h.mayFail, len(all))
	return all, err
}

func (h *Flags) addFile(all *[]guest.Target, stdin io.Reader) error {
	name := h.file
	if name == "-" {
		name = "stdin"
	}
	data, err := infile.ReadOr(stdin, h.file, infile.Text)
	if err != nil {
		return &fault.Error{Where: name, What: "the list of nodes can't be read: " + err.Error(), Fix: "--hosts FILE, or - for stdin", Err: err}
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, infile.Text)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := h.add(all, line, name+":"+strconv.Itoa(n)); err != nil {
			return err
		}
	}
	return nil
}

func (h *Flags) add(all *[]guest.Target, s, where string) error {
	t, err := guest.ParseTarget(s)
	if err != nil && where != "" {
		return &fault.Error{Where: where, What: fmt.Sprintf("%q isn't a node", s), Fix: "Administrator@node1.example.com or Administrator@10.0.0.7:2222", Err: err}
	}
	if err != nil {
		return err
	}
	t.User = cmp.Or(t.User, h.user)
	if slices.ContainsFunc(*all, func(o guest.Target) bool { return o.String() == t.String() }) {
		return &fault.Error{Where: where, What: t.String() + " is named twice", Fix: "name each node once"}
	}
	*all = append(*all, t)
	return nil
}

// share is --max-failures of n machines.
func share(mayFail string, n int) (int, error) {
	number, percent := strings.CutSuffix(mayFail, "%")
	of, err := strconv.Atoi(number)
	if err != nil || of < 0 || percent && of > 100 {
		return 0, &fault.Error{What: fmt.Sprintf("--max-failures can't be %q", mayFail), Fix: "--max-failures 3 or --max-failures 20%", Err: err}
	}
	if percent {
		return n * of / 100, nil
	}
	return of, nil
}

// Stock is what a node should be with an image that doesn't say it, as this
// versions.yaml has it; nil for "". warn is told what the image doesn't have.
func Stock(file string, warn func(name, what string)) deploy.Otherwise {
	if file == "" {
		return nil
	}
	return func(files []verify.File) (*node.Expectation, error) {
		f, err := pins.Load(file)
		if err != nil {
			return nil, err
		}
		return wanted.OfImage(f, Present(files), warn)
	}
}

// Present are the files of an image by their paths below /payload.
func Present(files []verify.File) map[string]wanted.Present {
	present := map[string]wanted.Present{}
	for _, f := range files {
		present[f.Path] = wanted.Present{SHA256: f.SHA256, Size: f.Size}
	}
	return present
}
