// Command node is verify.exe: the verify that runs on a Windows node.
package main

import (
	"os"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/verifyexe"
)

func main() { os.Exit(app.Main(verifyexe.New)) }
