// Command powershell is the test node's double of powershell.exe. It refuses what
// PowerShell can't parse, answers what it was told to expect, and fails on
// everything else: Wine's own answers 0 to any script.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/winbake/winbake/test/wine/winenode/answer"
)

func main() {
	code, err := serve()
	if err != nil {
		fmt.Fprintln(os.Stderr, "powershell double:", err)
		code = answer.Unexpected
	}
	os.Exit(code)
}

// serve answers this call with the first answer that fits it.
func serve() (int, error) {
	answers, err := load(answer.ExpectFile)
	if err != nil {
		return 0, err
	}
	c := answer.Call{Args: os.Args[1:], Env: environment()}
	if said := refusal(c.Args); said != "" {
		fmt.Fprint(os.Stderr, said)
		return 1, record(answer.CallFile, c)
	}
	for _, a := range answers {
		if a.Fits(c) {
			fmt.Fprint(os.Stdout, a.Stdout)
			fmt.Fprint(os.Stderr, a.Stderr)
			c.Expected = true
			return a.Exit, record(answer.CallFile, c)
		}
	}
	fmt.Fprintf(os.Stderr, "powershell double: was not told to expect: %s\r\n", strings.Join(c.Args, " "))
	return answer.Unexpected, record(answer.CallFile, c)
}

func load(name string) ([]answer.Answer, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var answers []answer.Answer
	return answers, json.Unmarshal(data, &answers)
}

func environment() map[string]string {
	env := map[string]string{}
	for _, v := range os.Environ() {
		if name, value, ok := strings.Cut(v, "="); ok && name != "" {
			env[name] = value
		}
	}
	return env
}

func record(name string, c answer.Call) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(text, '\n'))
	return err
}
