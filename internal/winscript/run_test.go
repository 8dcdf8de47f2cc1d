package winscript

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRun: the commands of a script, however they are spelled. Each must be
// there, with its arguments in order; ! before one says that it isn't run.
func TestRun(t *testing.T) {
	for text, want := range map[string][]string{
		"sc.exe create csiproxy binPath= 'C:\\a b.exe'": {`sc create csiproxy binpath= c:\a b.exe`},
		"& \"C:\\Windows\\System32\\SC.EXE\" create a":  {"sc create a"},
		"sc a b":                                {"set-content a b"},
		"iwr -Uri http://a `\n -OutFile b # -c": {"invoke-webrequest -uri http://a -outfile b"},
		"$p = @{ Uri = 'http://a'; OutFile = 'b' }\nInvoke-WebRequest @p":              {"invoke-webrequest -outfile b -uri http://a"},
		"cmd /c \"net stop a & sc config b\"":                                          {"net stop a", "sc config b"},
		"powershell -NoProfile -ExecutionPolicy Bypass -Command \"Stop-Service a; b\"": {"stop-service a", "b"},
		"pwsh -ec YQAgAGIA":                                                                       {"a b"},
		"powershell -File 'C:\\x y.ps1' -A b":                                                     {`x y.ps1 -a b`},
		"Start-Process msiexec -ArgumentList '/i','a.msi' -Wait":                                  {"msiexec /i a.msi"},
		"Start-Process -FilePath 'C:\\Program Files\\a.exe' -Args '/x y'":                         {"!nothing"},
		"foreach ($n in 'a','b') { Set-Service -Name $n }":                                        {"set-service -name a b"},
		"'a','b' | ForEach-Object { Set-Service $_ }":                                             {"set-service a b"},
		"'a' | % { sal x Stop-Service; x $_ }":                                                    {"stop-service a"},
		"function F { param([string] $A, [string[]] $B = @('d')) g $A $B }\nF 'x'\nF -B 'y' -A z": {"g x d", "g z y"},
		"function F { a }":                      {"!a"},
		"function F { a }; F":                   {"a"},
		"exit 0\na":                             {"!a"},
		"throw 'x'\na":                          {"!a"},
		"if ($false) { a }":                     {"!a"},
		"if ($x) { exit 0 }\na":                 {"a"},
		"Write-Output 'a'\n# b":                 {"write-output a", "!b"},
		"$x = @'\nb\n'@\na":                     {"a", "!b"},
		"a \"$(b c)\"":                          {"b c"},
		"$x = (b).C('d')":                       {"b", ".c d"},
		"$n = 'ssh'; a \"$n-agent\" ($n + 'd')": {"a ssh-agent sshd"},
		"$r = @(@{P=1}; @{P=2}); foreach ($x in $r) { a $x.P }": {"a 1 2"},
		"$a = 'x'\nInvoke-Command -ScriptBlock { b $a }":        {"b x"},
		"iex 'a b'":        {"a b"},
		"a -b:c -d:$false": {"a -b c -d $false"},
		"$env:P = 'sysprep.exe'\nStart-Process $env:P '/oobe'": {"sysprep /oobe"},
		"(New-Object Net.WebClient).DownloadFile('u', 'f')":    {".downloadfile u f"},
		"$c = { a b }\n$x.Arguments = \"-Command $c\"":         {"a b"},
		"try { a } catch { b } finally { c }":                  {"a", "b", "c"},
		"switch ($x) { 'a' { b } default { c } }":              {"b", "c"},
		"a '{0}-{1}' -f":            {"a {0}-{1} -f"},
		"a ('{0}-{1}' -f 'x', 'y')": {"a x-y"},
		"function F { param([string] $A = 'x', [string] $B = 'y', $C) g $A $B $C }\nF -C 'z'": {"g x y z"},
		"try { a } catch [b], [c] { d } e":     {"a", "d", "e"},
		"$x.M(1 + 2, 'a')":                     {".m 12 a"},
		"$x.ForEach{ a }.\nM('b')":             {".m b"},
		"switch -File 'x' { 'a' { b } }":       {"b"},
		"'a' > 'b c'":                          {" -> b c"},
		"a && b || c":                          {"a", "b", "c"},
		"a )\nb }\nif (c { d":                  {"a", "b", "c"},
		"powershell -En YQAgAGIA":              {"a b"},
		"powershell /NoLogo -ep Bypass /C a b": {"a b"},
		"@{ a = 1; b = 2 }.GetEnumerator() | % { c $_.Key $_.Value }":     {"c a b 1 2"},
		"$t = @{ a = 1; b = 2 }; foreach ($k in $t.Keys) { c $k $t[$k] }": {"c a b 1 2"},
		"$t = @{ a = 1; b = 2 }; $t.Values | % { c $_ }":                  {"c 1 2"},
		"$t = @{ keys = 3; b = 2 }; c $t.Keys":                            {"c 3"},
		"(a) -replace 'b', 'c d' | e":                                     {"e"},
	} {
		lines := func(s Script) (out []string) {
			for _, c := range s.Commands {
				out = append(out, c.Text())
			}
			return out
		}(Run(text, map[string]string{}))
		for _, w := range want {
			unwanted, not := strings.CutPrefix(w, "!")
			if slices.Contains(lines, strings.TrimPrefix(w, "!")) == not {
				t.Errorf("%q: want %q, have %q %v", text, w, lines, unwanted != w)
			}
		}
	}
}

func TestRunCmd(t *testing.T) {
	for text, want := range map[string][]string{
		"@echo off\r\nREM a\r\n:: b\r\nnet stop c & d\r\n":             {"echo off", "net stop c", "d", "!a"},
		"if exist x (\n  a b\n) else (\n  c\n)":                        {"a b", "c"},
		"if not \"%x%\"==\"\" a":                                       {"a"},
		"for %%i in (a b) do c %%i":                                    {"c a", "c b"},
		"for %%i in (a,\"b\") do (\n  c /x=%%i\n  d\n)":                {"c /x=a", "c /x=b", "d"},
		"for /f %%i in ('a b') do c %%i":                               {"c %%i"},
		"cmd /c \"for %i in (a b) do if exist %i:\\c %i:\\c %path%\"":  {"c %path%"},
		">>\"a b\" echo c":                                             {"echo c >>a b"},
		"set P=sc\n%P% create a":                                       {"sc create a"},
		"a ^\n  b ^& c":                                                {"a b & c"},
		"powershell -Command \"Set-Service -Name 'a b'\"":              {"set-service -name a b"},
		"start \"\" /wait msiexec /i \"a b.msi\"":                      {"msiexec /i a b.msi"},
		`C:\Windows\System32\cmd.exe /c ""C:\Program Files\a.bat" -B"`: {"a.bat -b"},
		"cmd /s /c a b":                                                {"a b"},
		"exit /b 0\na":                                                 {"!a"},
	} {
		var lines []string
		for _, c := range RunCmd(text, nil).Commands {
			lines = append(lines, c.Text())
		}
		for _, w := range want {
			if slices.Contains(lines, strings.TrimPrefix(w, "!")) == strings.HasPrefix(w, "!") {
				t.Errorf("%q: want %q, have %q", text, w, lines)
			}
		}
	}
}

// TestCompared: what a result is used for.
func TestCompared(t *testing.T) {
	for text, want := range map[string]bool{
		"if ((Get-FileHash a).Hash -ne $b) { throw 1 }":         true,
		"$h = Get-FileHash a\nif ($h.Hash -ne 'b') { throw 1 }": true,
		"$h = (Get-FileHash a).Hash\nWrite-Output $h":           false,
		"Get-FileHash a | Write-Output":                         false,
	} {
		for _, c := range Run(text, nil).Commands {
			if c.Name == "get-filehash" && c.Compared != want {
				t.Errorf("%q: %v", text, c.Compared)
			}
		}
	}
}

// TestGrowth: what a script doubles, or nests, has an end.
func TestGrowth(t *testing.T) {
	a := Run("$a = @(@{ b = 1 }, { b })\n"+strings.Repeat("$a += $a\n", 10), nil).Assigned["a"]
	if len(a.tables) != maxTexts || len(a.blocks) != maxTexts || !a.Open {
		t.Errorf("%d tables, %d blocks", len(a.tables), len(a.blocks))
	}
	done := make(chan bool)
	go func() { _ = Check(strings.Repeat("a $b.$(", 50) + strings.Repeat(")/c", 50)); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("a word is read twice for each bracket")
	}
}
