package template

import (
	"cmp"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/packer/builder"
)

//go:embed scripts
var sources embed.FS

// preludeMark is the line of a script that the prelude replaces: strict mode,
// the log, and what happens on an error. It isn't the first one where a script
// has parameters.
const preludeMark = "#prelude\n"

// partMark is a line that is replaced by a text that several scripts share.
var partMark = regexp.MustCompile(`(?m)^#include ([a-z]+)\n`)

// script composes a script.
func script(name string) ([]byte, error) {
	var read error
	source := func(file string) string {
		text, err := sources.ReadFile("scripts/" + file)
		read = cmp.Or(read, err)
		return string(text)
	}
	before, after, found := strings.Cut(source(name+".ps1"), preludeMark)
	prelude := strings.ReplaceAll(source("prelude.txt"), "@NAME@", name)
	after = partMark.ReplaceAllStringFunc(after, func(line string) string {
		return "\n" + source(strings.TrimSpace(strings.TrimPrefix(line, "#include "))+".txt")
	})
	if read != nil {
		return nil, fmt.Errorf("script %s: %w", name, read)
	}
	if !found {
		return nil, fmt.Errorf("script %s has no line %q", name, preludeMark)
	}
	return []byte(before + prelude + after + "\nStop-Transcript | Out-Null\nexit 0\n"), nil
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
	if r.platform.Medium == builder.ISO {
		data, err := answer.Build(answer.BuildOptions{DriverFolders: r.drivers, FirstLogon: firstLogon})
		if err != nil {
			return err
		}
		r.add("answers/autounattend.xml.pkrtpl", data)
	}
	if !r.answers() {
		return nil
	}
	o := answer.GeneralizeOptions{}
	if !r.CloudbaseInit {
		o.Specialize = `powershell.exe -NoProfile -ExecutionPolicy Bypass -File ` + backslashed(ownFolder) + `\host-name.ps1 -Prefix ${` + answer.VarHostPrefix + `}`
	}
	data, err := answer.Generalize(o)
	if err != nil {
		return err
	}
	r.add("answers/unattend.xml.pkrtpl", data)
	return nil
}
