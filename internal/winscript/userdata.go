package winscript

import (
	"bytes"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Part is a script that stands in a file of another kind.
type Part struct {
	Language string // powershell or cmd
	Text     string // with each line where the file has it
}

// tagged are scripts between tags. EC2 runs cmd's first.
var tagged = []struct {
	language string
	form     *regexp.Regexp
}{
	{"cmd", regexp.MustCompile(`(?is)<script>(.*?)(?:</script>|\z)`)},
	{"powershell", regexp.MustCompile(`(?is)<powershell>(.*?)(?:</powershell>|\z)`)},
}

// Parts are the scripts in what a cloud's agent reads: between tags in user data, or
// in tasks of EC2Launch v2, which are in user data or in its agent-config.yml.
func Parts(text string) []Part {
	var out []Part
	for _, t := range tagged {
		if m := t.form.FindStringSubmatchIndex(text); m != nil {
			out = append(out, placed(t.language, text[m[2]:m[3]], 1+strings.Count(text[:m[2]], "\n")))
		}
	}
	if len(out) > 0 || !strings.Contains(text, "task:") {
		return out
	}
	var file struct {
		Tasks  []task
		Config []struct{ Tasks []task }
	}
	if yaml.Unmarshal([]byte(text), &file) != nil {
		return nil
	}
	for _, stage := range file.Config {
		file.Tasks = append(file.Tasks, stage.Tasks...)
	}
	for _, t := range file.Tasks {
		inputs := []*yaml.Node{&t.Inputs}
		if t.Inputs.Kind == yaml.SequenceNode {
			inputs = t.Inputs.Content
		}
		for _, n := range inputs {
			var in input
			if n.Kind == 0 || n.Decode(&in) == nil {
				out = append(out, t.does(in)...)
			}
		}
	}
	return out
}

// task is one of EC2Launch v2
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2launch-v2-task-definitions.html).
type task struct {
	Task   yaml.Node
	Inputs yaml.Node
}

type input struct {
	Type          string
	Content, Path yaml.Node
	Arguments     []string
	Password      struct {
		Type string
		Data yaml.Node
	}
}

// does is what a task does, as a script says it.
func (t task) does(in input) []Part {
	switch t.Task.Value {
	case "executeScript":
		if in.Type == "batch" {
			return []Part{of(in.Content, "cmd", in.Content.Value)}
		}
		return []Part{of(in.Content, "powershell", in.Content.Value)}
	case "executeProgram":
		return []Part{of(in.Path, "cmd", strings.Join(append([]string{word(in.Path.Value)}, in.Arguments...), " "))}
	case "setAdminAccount":
		if in.Password.Type == "static" {
			return []Part{of(in.Password.Data, "cmd", "net user Administrator "+word(in.Password.Data.Value))}
		}
	case "enableOpenSsh":
		return []Part{of(t.Task, "powershell", "Add-WindowsCapability -Online -Name OpenSSH.Server~~~~0.0.1.0")}
	case "sysprep":
		return []Part{of(t.Task, "cmd", "ec2launch sysprep")}
	}
	return nil
}

// of is a script from a node, a block of which begins on the line behind its mark.
func of(n yaml.Node, language, text string) Part {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		n.Line++
	}
	return placed(language, text, n.Line)
}

func placed(language, text string, line int) Part {
	return Part{language, strings.Repeat("\n", max(line-1, 0)) + text}
}

// Decode is a script's text as powershell.exe -File reads it: without a mark in
// front, in the code page of a Windows in English. A dash of UTF-8 has a quote in
// it then (https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_character_encoding).
func Decode(data []byte) string {
	var from encoding.Encoding = charmap.Windows1252
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		from = unicode.UTF8BOM
	} else if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		from = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	}
	text, err := from.NewDecoder().Bytes(data)
	if err != nil { // of half a character: PowerShell puts another in its place
		text = bytes.ToValidUTF8(data, []byte("\ufffd"))
	}
	return string(text)
}
