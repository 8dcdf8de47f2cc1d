// Command bake makes the Windows node payload: it compiles pinned sources
// and packs the results into one reproducible image.
package main

import (
	"os"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
)

func main() { os.Exit(app.Main(bake.New)) }
