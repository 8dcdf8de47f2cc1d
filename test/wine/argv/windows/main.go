//go:build windows

// Command windows prints, for each line of the file that it is given, what
// CommandLineToArgvW makes of it: a JSON list a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := json.NewEncoder(os.Stdout)
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var line string
		if err := json.Unmarshal(sc.Bytes(), &line); err != nil {
			return err
		}
		argv, err := windows.DecomposeCommandLine(line)
		if err != nil {
			return err
		}
		if err := out.Encode(argv); err != nil {
			return err
		}
	}
	return nil
}
