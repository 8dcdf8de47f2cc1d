package winscript

import "testing"

// FuzzRun: any text is gone through, and ends.
func FuzzRun(f *testing.F) {
	for _, seed := range []string{"function a { a }; a", "$a = \"$(b", "@{a=@(1,{b})}", "& { param($x) & $x } { 1 }", "cmd /c \"powershell -c cmd /c a\"", "if (((((", "[[[[", "for (;;) {}", "switch {", "-----$", "a,\n,b", "\"`u{"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		Run(text, nil)
		RunCmd(text, nil)
	})
}
