// Command prepare builds the kube-apiserver that the tests start and the
// kubectl that they run, if the user's cache folder doesn't have them, and prints
// their paths. The tests do it themselves; run before them, it stays out of
// their time limits.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/winbake/winbake/test/cluster/apiserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, build := range []func(context.Context) (string, error){apiserver.Build, apiserver.Kubectl} {
		binary, err := build(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, "prepare:", err)
			os.Exit(1) //nolint:gocritic // the signals end with the process
		}
		fmt.Println(binary)
	}
}
