// Command prepare builds Packer and its plugins, if the user's cache folder
// hasn't got them. The tests do it themselves; run before them, it stays out of
// their time limits.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/winbake/winbake/test/packer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, tool := range append(append([]packer.Tool{}, packer.Packers...), packer.Plugins...) {
		binary, err := tool.Build(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, "prepare:", err)
			os.Exit(1) //nolint:gocritic // the signals end with the process
		}
		fmt.Println(binary)
	}
}
