// Command catalog makes the catalog of verify and bake, and compares two.
//
//	go run -C hack/catalog . make -fetch -clones DIR   # the newest facts into internal/cluster/catalog/data
//	go run -C hack/catalog . diff OLD [NEW]            # what was added, removed and changed
//
// DIR holds complete clones by owner and name, DIR/openshift/aws-ebs-csi-driver.git
// and so on: the forks and upstreams of forks.yaml, and for the dates of patches
// openshift-eng/ocp-build-data and openshift/cincinnati-graph-data. make takes some
// minutes, and changes nothing in the clones without -fetch. It writes which upstream release each
// commit of a fork is based on: the drivers of releases.yaml, commits.yaml, and the
// heads of builds.yaml. People write the rest. A new release is a row in releases.yaml.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := execute(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func execute(ctx context.Context, args []string, w io.Writer) error {
	commands := map[string]func(context.Context, *flag.FlagSet, []string, io.Writer) error{"make": makeCommand, "diff": diffCommand}
	if len(args) == 0 || commands[args[0]] == nil {
		return fmt.Errorf("name make or diff: go doc ./hack/catalog")
	}
	return commands[args[0]](ctx, flag.NewFlagSet(args[0], flag.ContinueOnError), args[1:], w)
}

// dataDir is seen from this folder, where go run -C starts the command.
const dataDir = "../../internal/cluster/catalog/data"

func makeCommand(ctx context.Context, f *flag.FlagSet, args []string, w io.Writer) error {
	clones := f.String("clones", "", "folder of clones, by owner/name")
	data := f.String("data", dataDir, "folder of the catalog's data")
	bring := f.Bool("fetch", false, "clone what is missing from GitHub first, and bring the rest up to date")
	only := f.String("drivers", "", "drivers to look at, separated by commas; all if empty")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *clones == "" || f.NArg() > 0 {
		return fmt.Errorf("make -clones DIR")
	}
	known, err := readForks(forksFile)
	if err != nil {
		return err
	}
	if *bring {
		if err := fetch(ctx, known, *clones, w); err != nil {
			return err
		}
	}
	names := strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })
	return generate(ctx, known, options{*clones, *data, names}, w)
}
