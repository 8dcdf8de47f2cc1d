package winenode

import (
	"strings"
	"testing"

	"github.com/pkg/sftp"
)

// TestScriptsAreParsed: a script that PowerShell can't parse fails, however it is
// started, with PowerShell's words; and the node knows what was brought to it.
func TestScriptsAreParsed(t *testing.T) {
	t.Parallel()
	n := Start(t, Options{})
	c := dial(t, n)
	n.Expect(t, Answer{Stdout: "ran\r\n"})
	files, err := sftp.NewClient(c)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for name, text := range map[string]string{
		"good.ps1": "Write-Output 1\r\n", "broken.ps1": "# 1\r\nthrow \"broken\r\n",
		"calls.ps1": "& 'C:\\Windows\\Temp\\broken.ps1'\r\n", "starts.cmd": "@powershell -File C:\\Windows\\Temp\\broken.ps1\r\n",
		"dash.ps1": "Write-Output \"a \u2013 b\"\r\n",
	} {
		f, err := files.Create("C:/Windows/Temp/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	const said = `At C:\Windows\Temp\broken.ps1:2 char:7`
	for command, want := range map[string]string{
		`powershell -executionpolicy bypass "& { &'c:/Windows/Temp/good.ps1'; exit $LastExitCode }"`:   "",
		`powershell -executionpolicy bypass "& { &'c:/Windows/Temp/broken.ps1'; exit $LastExitCode }"`: "At c:/Windows/Temp/broken.ps1:2 char:7",
		`powershell -NoProfile -ex bypass -File C:\Windows\Temp\calls.ps1`:                             said,
		`C:\Windows\Temp\starts.cmd`:                said,
		`powershell -Command "throw 'broken"`:       "At line:1 char:7",
		`powershell -enc dABoAHIAbwB3ACAAIgBiAA==`:  "At line:1 char:7", // throw "b
		`powershell -File C:\Windows\Temp\dash.ps1`: `dash.ps1:1 char:22`,
	} {
		r := run(t, c, "", command)
		if want == "" && (r.code != 0 || r.stdout != "ran\r\n") || want != "" && (r.code != 1 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "The string is missing the terminator")) {
			t.Errorf("%s: %+v", command, r)
		}
	}
	names := map[string]string{}
	for _, s := range n.Steps() {
		for _, f := range s.Scripts {
			names[f.Path] = string(f.Data)
		}
	}
	if len(n.Steps()) != 7 || len(n.Uploads()) != 5 || !strings.Contains(names[`C:\Windows\Temp\broken.ps1`], "throw") || names[`c:\Windows\Temp\good.ps1`] == "" {
		t.Errorf("the node knows of %v, and of the files %v", names, n.Uploads())
	}
}
