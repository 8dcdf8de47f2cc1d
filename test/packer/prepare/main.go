// Command prepare builds Packer and its plugins, if the user's cache folder
// doesn't have them. The tests do it themselves; run before them, it stays out of
// their time limits.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/test/packer"
)

// atOnce is how many are built side by side: much of each build is one process
// that waits for another, its linker above all. More would need more memory than
// time they save; two take 8 GB at their worst.
const atOnce = 2

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := prepare(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
		os.Exit(1)
	}
}

func prepare(ctx context.Context) error {
	tools := slices.Concat(packer.Packers, packer.Plugins)
	binaries := make([]string, len(tools))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, tool := range tools {
		group.Go(func() (err error) {
			binaries[i], err = tool.Build(ctx)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, b := range binaries {
		fmt.Println(b)
	}
	return nil
}
