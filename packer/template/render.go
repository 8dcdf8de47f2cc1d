package template

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/packer/builder"
)

// Platform is one builder of Packer and the place that it makes images for.
type Platform = builder.Builder

// Plugin is the Packer plugin that a platform's builder comes from.
type Plugin = builder.Plugin

// provisioners are those that run a script, by the end of its name.
var provisioners = map[string]string{".ps1": "powershell", ".cmd": "windows-shell", ".bat": "windows-shell"}

// Platforms lists what there are templates for, in the order of the
// documentation.
func Platforms() []Platform { return builder.Builders() }

// PlatformNames lists their names.
func PlatformNames() []string { return builder.Names() }

// Find returns a platform by name. The error is a *fault.Error that lists
// their names.
func Find(name string) (*Platform, error) { return builder.Find(name) }

// File is one file of a template folder.
type File struct {
	// Path is below the folder, with slashes.
	Path string
	Data []byte
}

// Folder is a rendered template.
type Folder struct {
	Platform  Platform
	Profile   Profile
	Windows   string
	Variables []Variable
	// Files are sorted by path.
	Files []File
}

// The folder's files and the scripts are templates, and so is what a platform has of its
// own: the settings, and the content of its source block.
var (
	//go:embed folder platforms scripts
	sources embed.FS

	templates = sync.OnceValues(func() (*template.Template, error) {
		return template.New("").Funcs(template.FuncMap{
			"quote": quote, "path": pathExpression,
			"cell": func(s string) string { return strings.ReplaceAll(s, "|", `\|`) },
		}).ParseFS(sources, "folder/*", "platforms/*", "scripts/*")
	})
)

// settings are what a platform decides.
type settings struct {
	// Before and Variables are definitions of variables. Only what all platforms have has
	// some that come before the others.
	Before, Variables []definition
	Demands           []demand
	// Notes are for the README: what to know about this platform.
	Notes []string
	// Locals are lines of HCL.
	Locals string
	// Drivers are folders on CDs that Windows Setup loads drivers from.
	Drivers []string
	// CDFiles is an HCL list of further files for the CD; "" for none.
	CDFiles string `yaml:"cdFiles"`
	// Tools is the script that installs the hypervisor's tools; "" for none.
	Tools string
	// Communicator is ssh or winrm where nobody can choose.
	Communicator string
	// LastScript is the script that runs last before sysprep; "" for none.
	LastScript string `yaml:"lastScript"`
	// Sysprep is what generalizes: sysprep, or the platform's own agent.
	Sysprep struct{ Program, Arguments string }
}

// render is one run of Render: what templates are given.
type render struct {
	Options
	settings
	Builder   *Platform
	Variables []Variable
	// Conditions are the demands, with those on the content of files.
	Conditions []demand

	files []File
}

// Server is the Windows that the template is for.
func (r *render) Server() server { return servers[r.Windows] }

// OpenShift, ISO, Cloud and Answers are what templates choose by: the last reports
// whether sysprep gets an answer file of ours.
func (r *render) OpenShift() bool { return r.Profile == OpenShift }
func (r *render) ISO() bool       { return r.Builder.Medium == builder.ISO }
func (r *render) Cloud() bool     { return r.Builder.Medium == builder.Cloud }
func (r *render) Answers() bool   { return !r.Cloud() }

// Docs is where the project's documents are.
func (r *render) Docs() string { return "https://github.com/winbake/winbake/blob/main/docs" }

// Plugins are those that the template needs. Our own brings the data source and the
// provisioner.
func (r *render) Plugins() []Plugin {
	if r.WithoutPayload {
		return []Plugin{r.Builder.Plugin}
	}
	return []Plugin{r.Builder.Plugin, {Name: "winbake", Source: "github.com/winbake/winbake", Constraint: ">= 0.1.0, < 1.0.0"}}
}

// Source is the content of the source block.
func (r *render) Source() (string, error) {
	text, err := r.execute(r.Platform + ".pkr.hcl.tmpl")
	return strings.TrimSpace(string(text)), err
}

func (r *render) execute(name string) ([]byte, error) {
	all, err := templates()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = all.ExecuteTemplate(&b, name, r)
	return b.Bytes(), err
}

// Render makes the template folder that o describes. The error is a
// *fault.Error where o is at fault.
func Render(o Options) (*Folder, error) {
	r, err := o.settle()
	if err != nil {
		return nil, err
	}
	if err := r.decide(); err != nil {
		return nil, err
	}
	if err := o.Values.check(r.Variables, r.Conditions, r.Platform); err != nil {
		return nil, err
	}
	for _, name := range []string{"versions.pkr.hcl", "variables.pkr.hcl", "variables-rare.pkr.hcl", "image.pkr.hcl", "README.md"} {
		data, err := r.execute(name + ".tmpl")
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".hcl") {
			data = hclwrite.Format(data)
		}
		r.add(name, data)
	}
	if err := errors.Join(r.addValues(), r.addAnswers(), r.addScripts(), r.addExtraScripts()); err != nil {
		return nil, err
	}
	slices.SortFunc(r.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return &Folder{Platform: *r.Builder, Profile: r.Profile, Windows: r.Windows, Variables: r.Variables, Files: r.files}, nil
}

func (r *render) add(path string, data []byte) { r.files = append(r.files, File{path, data}) }

// decide reads the settings: the platform's first, which the common ones go by.
func (r *render) decide() (err error) {
	if r.Payload.Reference, err = r.portable(r.Payload.Reference); err != nil {
		return err
	}
	read := func(name string, s *settings) error {
		text, err := r.execute(name + ".yaml.tmpl")
		if err == nil {
			err = yaml.Unmarshal(text, s)
		}
		if err != nil {
			return fmt.Errorf("settings of %s: %w", name, err)
		}
		return nil
	}
	var common settings
	r.Sysprep.Program = `C:\Windows\System32\Sysprep\sysprep.exe`
	r.Sysprep.Arguments = `/generalize /oobe /quit /quiet /unattend:C:\ProgramData\winbake\unattend.xml`
	if err := read(r.Platform, &r.settings); err != nil {
		return err
	}
	if err := read("settings", &common); err != nil {
		return err
	}
	for _, d := range slices.Concat(common.Before, r.settings.Variables, common.Variables) {
		r.Variables = append(r.Variables, d.variable(r.Windows, r.Server()))
	}
	r.Demands = append(r.Demands, common.Demands...)
	r.Conditions = r.Demands
	for i := range r.Variables {
		r.contentDemands(&r.Variables[i])
	}
	return nil
}

// contentDemands makes demands of what a variable's rules say of a file's content, since
// rules don't know the folder.
func (r *render) contentDemands(v *Variable) {
	own := v.Rules[:0:0]
	for n, rule := range v.Rules {
		if !strings.Contains(rule.Condition, "file(") {
			own = append(own, rule)
			continue
		}
		r.Conditions = append(r.Conditions, demand{fmt.Sprintf("%s_%d", v.Name, n+1), strings.ReplaceAll(rule.Condition, "file(var.", "file(local."),
			v.Name + ": " + strings.TrimSuffix(rule.Message, "."), v.Fix})
	}
	v.Rules = own
}

// pathExpression is a path relative to the folder as one that holds anywhere. A
// payload may have a scheme (docker://), and is no path by digest.
func pathExpression(name string) string {
	elsewhere := `^([/~]|[A-Za-z]:)`
	if name == "payload" {
		elsewhere = `^([/~]|[A-Za-z-]+:)|@sha256:`
	}
	return `var.` + name + ` == "" ? "" : can(regex(` + quote(elsewhere) + `, var.` + name + `)) ? pathexpand(var.` + name + `) : abspath("${path.root}/${var.` + name + `}")`
}

// Extra are the image team's steps of a moment, in the order in which they were
// given.
func (r *render) Extra(m Moment) string {
	text := ""
	for _, s := range r.ExtraScripts {
		if s.Moment == m {
			text += "\n\n" + `provisioner "` + provisioners[strings.ToLower(filepath.Ext(s.Name))] + "\" {\nscript = " + quoteRoot(extraPath(s)) + "\n}"
		}
	}
	return text
}

// firstLogon finds winbake.ps1 on whatever drive the CD is.
const firstLogon = `powershell.exe -NoProfile -ExecutionPolicy Bypass -Command "$s = Get-PSDrive -PSProvider FileSystem | ForEach-Object { Join-Path $_.Root winbake.ps1 } | Where-Object { Test-Path $_ } | Select-Object -First 1; & $s; exit $LASTEXITCODE"`

func (r *render) addAnswers() error {
	if r.ISO() {
		data, err := answer.Build(answer.BuildOptions{DriverFolders: r.Drivers, FirstLogon: firstLogon})
		if err != nil {
			return err
		}
		r.add("answers/autounattend.xml.pkrtpl", data)
	}
	if !r.Answers() {
		return nil
	}
	o := answer.GeneralizeOptions{}
	if !r.CloudbaseInit {
		o.Specialize = `powershell.exe -NoProfile -ExecutionPolicy Bypass -File C:\ProgramData\winbake\host-name.ps1 -Prefix ${` + answer.VarHostPrefix + `}`
	}
	data, err := answer.Generalize(o)
	r.add("answers/unattend.xml.pkrtpl", data)
	return err
}

// addValues puts the values into the folder, so that Packer needs no
// -var-file. Secrets stay where they are.
func (r *render) addValues() error {
	if r.Values == nil {
		return nil
	}
	var names []string
	for _, path := range r.Values.Paths {
		names = append(names, filepath.Base(path))
	}
	text := []byte("# From " + strings.Join(names, ", ") + ", without secrets. Packer reads this file by itself.\n\n")
	for _, variable := range r.Variables {
		value, given := r.Values.values[variable.Name]
		if !given || variable.Sensitive {
			continue
		}
		if variable.Path {
			path, err := r.portable(value.AsString())
			if err != nil {
				return err
			}
			value = cty.StringVal(path)
		}
		text = fmt.Appendf(text, "%s = %s\n", variable.Name, hclwrite.TokensForValue(value).Bytes())
	}
	r.add("values.auto.pkrvars.hcl", hclwrite.Format(text))
	return nil
}

// portable is a path as the folder has it: relative to itself, so that it can be
// moved with what it names. What isn't a file's path stays as it is.
func (r *render) portable(path string) (string, error) {
	if path == "" || strings.HasPrefix(path, "~") || strings.Contains(path, "@sha256:") {
		return path, nil
	}
	absolute, err := filepath.Abs(path)
	if err != nil || r.Dir == "" {
		return absolute, err
	}
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(dir, absolute)
	return filepath.ToSlash(relative), err
}

// variable is the definition with its rules written out.
func (d definition) variable(release string, s server) Variable {
	v := d.Variable
	v.Type = cmp.Or(v.Type, "string")
	switch {
	case d.Value == nil:
		v.Default = map[string]string{"bool": "false", "list(string)": "[]"}[v.Type]
	case v.Type == "string":
		v.Default = quote(*d.Value)
	default:
		v.Default = *d.Value
	}
	rule := func(condition, message string, a ...any) {
		v.Rules = append(v.Rules, Rule{condition, "Variable " + v.Name + " " + fmt.Sprintf(message, a...) + "."})
	}
	name := "var." + v.Name
	matches := func(pattern string) string { return "can(regex(" + quote(pattern) + ", " + name + "))" }
	if d.Pattern != "" {
		condition := matches(d.Pattern)
		if d.Optional || v.Default == `""` {
			condition = name + ` == "" || ` + condition
		}
		rule(condition, "%s", cmp.Or(d.Message, "has to be "+d.Form))
	}
	if d.Least > 0 {
		rule(fmt.Sprintf("%s >= %d", name, d.Least), "has to be %d at least", d.Least)
	}
	if len(d.Choices) > 0 {
		rule(`contains(["`+strings.Join(d.Choices, `", "`)+`"], `+name+")", "has to be one of %s", strings.Join(d.Choices, ", "))
	}
	if len(v.Rules) == 0 && v.Type == "string" && v.Default != `""` {
		rule("length("+name+") > 0", "can't be empty")
	}
	if d.Windows {
		rule("!"+matches(windowsPattern)+" || "+matches(release), "names another Windows than %s, which the template is for", s.Name)
	}
	return v
}
