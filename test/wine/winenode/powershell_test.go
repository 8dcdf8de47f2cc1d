package winenode

import (
	"testing"

	"github.com/winbake/winbake/test/wine/winenode/answer"
)

func TestPowerShellAnswersWhatItWasTold(t *testing.T) {
	t.Parallel()
	n := Start(t, Options{})
	c := dial(t, n)
	if r := run(t, c, "", `powershell -Command "exit 0"`); r.code != answer.Unexpected || r.stdout != "" {
		t.Errorf("told nothing, it gives %+v", r)
	}
	n.Expect(t,
		Answer{Contains: []string{"Get-Disk", "Number 1"}, Stdout: "one\r\n"},
		Answer{Contains: []string{"Get-Disk"}, Env: map[string]string{"volumeID": "v"}, Stderr: "no\r\n", Exit: 1},
	)
	for _, test := range []struct {
		command string
		want    result
	}{
		{`powershell.exe -Command "(Get-Disk -Number 1).Size"`, result{"one\r\n", "", 0}},
		{`set "volumeID=v" & powershell Get-Disk`, result{"", "no\r\n", 1}},
	} {
		if r := run(t, c, "", test.command); r != test.want {
			t.Errorf("%s: %+v, want %+v", test.command, r, test.want)
		}
	}
	if r := run(t, c, "", `powershell Get-Disk -Number 2`); r.code != answer.Unexpected {
		t.Errorf("a call nobody announced gives %+v", r)
	}
	calls := n.Calls(t)
	if len(calls) != 4 || calls[0].Expected || !calls[1].Expected || calls[2].Env["volumeID"] != "v" || calls[3].Expected {
		t.Errorf("the calls are %+v", calls)
	}
}
