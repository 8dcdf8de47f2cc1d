package winenode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/winbake/winbake/test/wine/winenode/answer"
)

// Answer is a call of powershell.exe that a test expects, and its answer.
type Answer = answer.Answer

// Call is a call of powershell.exe that was made.
type Call = answer.Call

// Expect tells the PowerShell double what to answer from now on, instead of
// what it was told before. The first answer that fits a call is given, as often
// as it's called. A call that none fits fails with code [answer.Unexpected].
func (n *Node) Expect(t testing.TB, answers ...Answer) {
	t.Helper()
	if err := n.Answers(answers...); err != nil {
		t.Fatal(err)
	}
}

// Answers does what Expect does, for a program.
func (n *Node) Answers(answers ...Answer) error {
	text, err := json.Marshal(answers)
	if err != nil {
		return err
	}
	path, err := n.Path(answer.ExpectFile)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Calls are the calls of powershell.exe so far, expected or not.
func (n *Node) Calls(t testing.TB) []Call {
	t.Helper()
	calls, err := n.PowerShellCalls()
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// PowerShellCalls does what Calls does, for a program.
func (n *Node) PowerShellCalls() ([]Call, error) {
	path, err := n.Path(answer.CallFile)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var calls []Call
	for line := range bytes.Lines(text) {
		var c Call
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, fmt.Errorf("read the calls of powershell.exe: %w", err)
		}
		calls = append(calls, c)
	}
	return calls, err
}
