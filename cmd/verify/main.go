// Command verify checks what was baked: payload images and executables.
package main

import (
	"os"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/verify"
)

func main() { os.Exit(app.Main(verify.New)) }
