// Package jq is jq for scripts and documents that are tested on machines
// without it: jq [-r] FILTER, from stdin.
package jq

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/itchyny/gojq"
)

// Main runs it with the program's arguments and ends the program.
func Main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "jq:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(args []string) error {
	raw := len(args) > 0 && args[0] == "-r"
	if raw {
		args = args[1:]
	}
	if len(args) != 1 {
		return errors.New("usage: jq [-r] FILTER")
	}
	query, err := gojq.Parse(args[0])
	if err != nil {
		return err
	}
	var input any
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		return err
	}
	for results := query.Run(input); ; {
		v, ok := results.Next()
		if !ok {
			return nil
		}
		if err, failed := v.(error); failed {
			return err
		}
		text, isText := v.(string)
		if !raw || !isText {
			encoded, err := json.MarshalIndent(v, "", "  ")
			if err != nil {
				return err
			}
			text = string(encoded)
		}
		fmt.Println(text)
	}
}
