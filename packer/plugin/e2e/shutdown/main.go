// Command shutdown stands where shutdown.exe does on a Wine node, which has no
// machine to end: it writes down how it was called, for the machine's
// simulator to end it.
package main

import (
	"fmt"
	"os"
	"strings"
)

// callFile has a line for each call.
const callFile = `C:\winenode\shutdown.txt`

func main() {
	f, err := os.OpenFile(callFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintln(f, strings.Join(os.Args[1:], " "))
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "shutdown double:", err)
		os.Exit(1)
	}
}
