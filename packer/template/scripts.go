package template

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/packer/answer"
)

//go:embed scripts
var sources embed.FS

// preludeMark is the line of a script that the prelude replaces: strict mode,
// the log, and what happens on an error. It isn't the first one where a script
// has parameters.
const preludeMark = "#prelude\n"

// script composes a script.
func script(name string) ([]byte, error) {
	text, err := sources.ReadFile("scripts/" + name + ".ps1")
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", name, err)
	}
	prelude, err := sources.ReadFile("scripts/prelude.txt")
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", name, err)
	}
	before, after, found := strings.Cut(string(text), preludeMark)
	if !found {
		return nil, fmt.Errorf("script %s has no line %q", name, preludeMark)
	}
	whole := before + strings.ReplaceAll(string(prelude), "@NAME@", name) + after
	return []byte(whole + "\nStop-Transcript | Out-Null\nexit 0\n"), nil
}

var scriptPath = regexp.MustCompile(`scripts/([a-z-]+)\.ps1`)

// addScripts adds the scripts that the HCL written so far names, and no
// others.
func (r *render) addScripts([]Variable) error {
	var names []string
	for _, f := range r.files {
		for _, m := range scriptPath.FindAllSubmatch(f.Data, -1) {
			names = append(names, string(m[1]))
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		data, err := script(name)
		if err != nil {
			return err
		}
		r.add("scripts/"+name+".ps1", data)
	}
	return nil
}

// firstLogon finds winbake.ps1 on whatever drive the CD is.
const firstLogon = `powershell.exe -NoProfile -ExecutionPolicy Bypass -Command "$s = Get-PSDrive -PSProvider FileSystem | ForEach-Object { Join-Path $_.Root winbake.ps1 } | Where-Object { Test-Path $_ } | Select-Object -First 1; & $s; exit $LASTEXITCODE"`

func (r *render) addAnswers([]Variable) error {
	if r.media == fromISO {
		data, err := answer.Build(answer.BuildOptions{DriverFolders: r.drivers, FirstLogon: firstLogon})
		if err != nil {
			return err
		}
		r.add("answers/autounattend.xml.pkrtpl", data)
	}
	if !r.answers() {
		return nil
	}
	data, err := answer.Generalize(answer.GeneralizeOptions{
		Specialize: `powershell.exe -NoProfile -ExecutionPolicy Bypass -File ` + strings.ReplaceAll(ownFolder, "/", `\`) + `\host-name.ps1 -Prefix ${` + answer.VarHostPrefix + `}`,
	})
	if err != nil {
		return err
	}
	r.add("answers/unattend.xml.pkrtpl", data)
	return nil
}
