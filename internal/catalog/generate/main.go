// Command generate finds out which upstream release each commit of OpenShift's
// driver forks stands on, and writes that into the catalog: the drivers of
// internal/catalog/data/releases.yaml, and commits.yaml.
//
// It is run by hand when a minor or a rebase is new, never by a build:
//
//	go run ./internal/catalog/generate -clones DIR
//
// DIR holds complete clones by owner and name, DIR/openshift/aws-ebs-csi-driver.git
// and so on: the seven forks and their upstreams (forks.go), and for the dates
// of patches openshift-eng/ocp-build-data and openshift/cincinnati-graph-data.
// It takes some minutes, reads the clones and changes nothing in them.
//
// A tree is compared with all of the upstream's releases, since everything
// else lies at times: makefiles lag behind, ancestry survives reverts and
// misses squashed merges, and tags such as v999.1.0 are no releases.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	o := options{}
	flag.StringVar(&o.clones, "clones", "", "folder of clones, by owner/name")
	flag.StringVar(&o.data, "data", "internal/catalog/data", "folder of the catalog's data")
	only := flag.String("drivers", "", "drivers to look at, separated by commas; all if empty")
	flag.Parse()
	if o.clones == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	for name := range strings.SplitSeq(*only, ",") {
		if name != "" {
			o.drivers = append(o.drivers, name)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := generate(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// options are the command's arguments.
type options struct {
	clones, data string
	drivers      []string
}

// generate does all of it and reports to w what changed hands in each branch.
func generate(ctx context.Context, o options, w io.Writer) error {
	cal, err := newCalendar(ctx, o.clones)
	if err != nil {
		return err
	}
	for _, f := range forks {
		if len(o.drivers) > 0 && !slices.Contains(o.drivers, f.driver) {
			continue
		}
		found, err := survey(ctx, o.clones, f, cal)
		if err != nil {
			return fmt.Errorf("survey %s: %w", f.fork, err)
		}
		report(w, found)
		// After each driver, so that a run that is stopped leaves what it found.
		if err := found.save(o.data); err != nil {
			return err
		}
	}
	return nil
}

// survey walks all release branches of one fork.
func survey(ctx context.Context, clones string, f fork, cal *calendar) (*found, error) {
	forkDir, err := gitDir(clones, f.fork)
	if err != nil {
		return nil, err
	}
	upstreamDir, err := gitDir(clones, f.upstream)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "winbake-forks-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(tmp)
	r, err := join(ctx, filepath.Join(tmp, "joined.git"), forkDir, upstreamDir)
	if err != nil {
		return nil, err
	}
	meter, err := newMeasurer(ctx, r, f)
	if err != nil {
		return nil, err
	}
	w := &walker{repo: r, meter: meter, seen: map[string]basis{}}
	out := &found{fork: f}
	for _, minor := range minors(f.since) {
		steps, err := w.walk(ctx, "release-"+minor)
		if err != nil {
			return nil, err
		}
		patches, err := cal.patches(ctx, minor)
		if err != nil {
			return nil, err
		}
		out.branches = append(out.branches, branch{minor, steps, shippedIn(f, minor, steps, patches)})
	}
	return out, nil
}
