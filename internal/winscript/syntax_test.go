package winscript_test

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/winscript"
)

// TestRefused: what Windows PowerShell refuses is found where it says so.
func TestRefused(t *testing.T) {
	for script, want := range map[string]string{
		"throw \"broken":                        `1:7: The string is missing the terminator: ".`,
		"throw 'broken":                         "1:7: The string is missing the terminator: '.",
		"throw “broken":                         `1:7: The string is missing the terminator: ".`,
		"$a = @\"\ntext\n":                      `1:6: The string is missing the terminator: "@.`,
		"$a = @'\ntext\n  '@\n":                 "1:6: The string is missing the terminator: '@.",
		"$a = @\"text\"@":                       "1:8: No characters are allowed after a here-string header",
		"<# comment":                            "1:1: The terminator '#>' is missing from the multiline comment.",
		"if ($a) {\n  b\n":                      "1:9: Missing closing '}' in statement block",
		"a\n}\n":                                "2:1: Unexpected token '}' in expression or statement.",
		"a )":                                   "1:3: Unexpected token ')' in expression or statement.",
		"$a = (1 + 2":                           "1:6: Missing closing ')' in expression.",
		"$a = @(1, 2":                           "1:6: Missing closing ')' in expression.",
		"$a = $(b":                              "1:6: Missing closing ')' in expression.",
		"$a[1":                                  "1:3: Missing closing ']' in array index expression.",
		"$a = [string":                          "1:6: Missing closing ']' in an attribute, a type or a class.",
		"$a = @{ b = 1":                         "1:6: Missing closing '}' in hash literal.",
		"$a = @{ b }":                           "1:9: Missing '=' operator after key in hash literal.",
		"$a = @{ b = }":                         "1:13: Missing statement after '=' in hash literal.",
		"$a = @{ b = 1 c = 2 }":                 "1:15: Unexpected token 'c' in expression or statement.",
		"$a =":                                  "1:5: You must provide a value expression following the '=' operator.",
		"$a = 1 +":                              "1:9: You must provide a value expression following the '+' operator.",
		"if ($a -eq ) { }":                      "1:12: You must provide a value expression following the '-eq' operator.",
		"if ($a -equals 1) { }":                 "1:8: Unexpected token '-equals' in expression or statement.",
		"if $a { }":                             "1:4: Missing '(' after 'if' in if statement.",
		"if () { }":                             "1:5: Missing condition in if statement after 'if ('.",
		"if ($a) b":                             "1:9: Missing statement block after if ( condition ).",
		"if ($a) { } else b":                    "1:18: Missing statement block after 'else' keyword.",
		"while ($a) b":                          "1:12: Missing statement block after while ( condition ).",
		"foreach ($a of $b) { }":                "1:13: Missing 'in' after variable in foreach loop.",
		"foreach (a in $b) { }":                 "1:10: Missing variable name after foreach.",
		"foreach ($a in ) { }":                  "1:16: Missing expression after 'in' in foreach loop.",
		"for ($i = 0; $i -lt 3; $i++) b":        "1:30: Missing statement block after for loop.",
		"switch ($a) b":                         "1:13: Missing '{' in switch statement.",
		"switch ($a) { 1 b }":                   "1:19: Unexpected token '}' in expression or statement.",
		"do { } for":                            "1:8: Missing while or until keyword in do loop.",
		"try { a }\nb":                          "1:4: The Try statement is missing its Catch or Finally block.",
		"function { }":                          "1:10: Missing name after function keyword.",
		"function a b":                          "1:12: Missing function body in function declaration.",
		"function a($b $c) { }":                 "1:11: Missing ')' in function parameter list.",
		"param([string] $a [string] $b)":        "1:6: Missing ')' in param block.",
		"a | ":                                  "1:5: An empty pipe element is not allowed.",
		"| a":                                   "1:1: An empty pipe element is not allowed.",
		"a\n| b":                                "2:1: An empty pipe element is not allowed.",
		"a | 'b'":                               "1:5: Expressions are only allowed as the first element of a pipeline.",
		"a && b":                                "1:3: The token '&&' is not a valid statement separator in this version.",
		"$a = $b ? 1 : 2":                       "1:9: Unexpected token '?' in expression or statement.",
		"$a ??= $b":                             "1:4: Unexpected token '??=' in expression or statement.",
		"${a}?.b":                               "1:5: Unexpected token '?.b' in expression or statement.",
		"class":                                 "1:6: Missing '{' in class body.",
		"$a $b":                                 "1:4: Unexpected token '$b' in expression or statement.",
		"a > ":                                  "1:5: Missing file specification after redirection operator.",
		"a < b":                                 "1:3: The '<' operator is reserved for future use.",
		"$a.b(1 2)":                             "1:8: Missing ')' in method call.",
		"a \"$(b { )\"":                         "1:10: Unexpected token ')' in expression or statement.",
		"a { b\n(c }":                           "2:4: Missing closing ')' in expression.",
		strings.Repeat("(", 5000):               "1:251: The script is nested too deeply.",
		"Write-Output \"a\\\"b\\\"\n$c = \"d\"": "The string is missing the terminator",
	} {
		e := winscript.Check(script)
		if e == nil || !strings.Contains(e.Error(), want) {
			t.Errorf("%.60q: want %s, have %v", script, want, e)
		}
	}
}

// taken are scripts that look wrong and aren't. Each was refused by a grammar.
const taken = `
[CmdletBinding()] param([Parameter(Mandatory = $true)][ValidateScript({ $_ -gt 1KB })][string[]] $Names = @('a', 'b'), [switch] $Quiet) Write-Output $Names
Move-Item -Force $dir\bin\* $env:TEMP\it.txt; . $PSScriptRoot/../lib.ps1 -Version1 2
Get-Item a, b | Select-Object Name, @{ Name = 'Size(GB)'; Expression = { $_.size / 1gb } }, Id > list.txt 2>&1
kubectl --kubeconfig=c:\k\config get nodes/$($(hostname).ToLower()) -o custom-columns=a:.b.c --no-headers
[ws.Calls+Data] $data = New-Object ws.Calls+Data; $x = [int] -1; $y = [System.Environment+SpecialFolder]::Windows
New-JobTrigger -At (Get-Date).AddSeconds(15).DateTime -Once; Mock Out-File -MockWith {} -Verifiable
netsh advfirewall set rule name="Windows Remote Management (HTTP-In)" new enable=yes; cmd --% /c echo %PATH% "
foreach-object { 1 }; 1..3 | % { $_ } | ? { $_ -notin 1, 2 }; -not $a -and !$b -xor ($c -ilike "*a*")
"a $($b | ForEach-Object { "c $_ ""d""" }) ${e f} $g:h $( @{ i = 'j' }.i ) ` + "`\"k`\"" + `"
@"
 "quoted" $(Get-Date -Format "HH:mm") ' " '
"@
$h = @{ a = 1; 'b c' = if ($d) { 2 } else { 3 }
  e = { param($f) $f } }
$i = switch -Regex ($j) { '^a' { 1; break } { $_ -eq 2 } { 3 } default { 4 } }
:outer while ($true) { do { continue outer } until ($a.b['c'].d -gt 20.) }
try { a } catch [System.IO.IOException], [System.Exception] { throw } finally { b } return & $c @d
for ($i = 0; $i -lt 3; $i++) { $a[$i]++, --$b | Out-Null } if ($c) { d } elseif ($e) { f } else { g }
$k.Where{ $_ }.ForEach({ $_.Item($_)[0].Title }) -join ', ' -replace 'a', 'b'
function Test-It { begin { 1 } process { 2 } end { 3 } } filter f { $_ } trap { continue } class A : B { [int] $C = 1; D([int] $e) : base($e) { } }
7z x a.zip; c:\a\b.exe /c; & "$a\b c.exe" /d; . { 1 }; $a = $b = 1, 2 + 3; ,$a; $x::y; $x."$y".$z.'w'; $script:a.B = 0x1F, 1e-3, .5
a -b:$c -d=e #f
a#b <# c #> d ` + "`\n  -e f" + `
using namespace System.IO
exit $LastExitCode
`

// TestTaken: what PowerShell takes is taken.
func TestTaken(t *testing.T) {
	if e := winscript.Check("\ufeff" + strings.ReplaceAll(taken, "\n", "\r\n")); e != nil {
		t.Errorf("%v: %s", e, strings.Split(taken, "\n")[e.Line-1])
	}
}

// TestDecode: a script without a mark in front isn't read as UTF-8: a dash in a
// string ends it.
func TestDecode(t *testing.T) {
	script := "Write-Output \"a \u2013 b\"\n"
	for name, c := range map[string]struct {
		data string
		good bool
	}{
		"UTF-8":             {script, false},
		"UTF-8 with a mark": {"\xef\xbb\xbf" + script, true},
		"UTF-16":            {"\xff\xfea\x00\n\x00", true},
		"another letter":    {"Write-Output \"\u00e4\"", true},
	} {
		if e := winscript.Check(winscript.Decode([]byte(c.data))); (e == nil) != c.good {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// FuzzCheck: no script makes it panic, or go on for ever.
func FuzzCheck(f *testing.F) {
	f.Add(taken)
	f.Fuzz(func(_ *testing.T, script string) { _ = winscript.Check(script) })
}
