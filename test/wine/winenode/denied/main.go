// Command denied stands where sc.exe does on a node whose user is no
// administrator: Wine asks nobody for rights.
package main

import (
	"fmt"
	"os"
)

// accessDenied is ERROR_ACCESS_DENIED, which sc.exe gives back as its exit code.
const accessDenied = 5

func main() {
	fmt.Print("[SC] OpenSCManager FAILED 5:\r\n\r\nAccess is denied.\r\n\r\n")
	os.Exit(accessDenied)
}
