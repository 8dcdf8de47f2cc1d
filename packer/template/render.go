package template

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/packer/builder"
)

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

// render is one run of Render: what a platform decides, and what comes of it.
type render struct {
	Options
	platform *Platform
	// vars are the platform's own, before the common ones.
	vars []Variable
	// drivers are folders on CDs that Windows Setup loads drivers from.
	drivers []string
	// cdFiles is an HCL list of further files for the CD; "" for none.
	cdFiles string
	// tools is the script that installs the hypervisor's tools; "" for none.
	tools string
	// vsphere images have a tools.conf.
	vsphere bool
	// sysprep is how the platform's own agent generalizes; zero for sysprep
	// with our answer file.
	sysprep [2]string
	// before is the script that runs last before sysprep; "" for none.
	before string
	// source writes the source block's content.
	source func(*body)
	// shell overrides the variable communicator: ssh or winrm.
	communicator string
	// sensitive locals and others that the source refers to.
	locals []local
	// demands are conditions on several variables.
	demands []demand
	// notes are for the README: what to know about this platform.
	notes []string

	files []File
}

type local struct {
	name, expression string
	sensitive        bool
}

// demand is a condition on several variables. No rule can have it: Packer lets
// each see its own variable alone. In a template it is a local that nothing
// refers to and that can't be evaluated otherwise: packer validate ends there,
// and file() prints the path that isn't there.
type demand struct {
	name      string
	condition string // HCL over var and local
	// message begins with the variables that have to fit together, and a colon.
	message string
	fix     string
}

func (r *render) demand(d demand) { r.demands = append(r.demands, d) }

func (r *render) release() windows { return releases[r.Windows] }

// Render makes the template folder that o describes. The error is a
// *fault.Error where o is at fault.
func Render(o Options) (*Folder, error) {
	o, platform, err := o.settle()
	if err != nil {
		return nil, err
	}
	r := &render{Options: o, platform: platform}
	r.locals = []local{{name: "image", expression: `"${var.image_name}-${var.image_version == "" ? formatdate("YYYYMMDD-hhmm", timestamp()) : var.image_version}"`}}
	r.locals = append(r.locals, local{name: "company", expression: "jsonencode({\n" +
		"proxy = var.proxy\n" + `no_proxy = join(";", var.no_proxy)` + "\n" + "wsus_server = var.wsus_server\n" +
		`ca_certificates = var.ca_certificates_file == "" ? "" : file(local.ca_certificates_file)` + "\n})"})
	platforms[platform.Name](r)
	if r.platform.Medium == builder.ISO {
		r.demand(demand{"openssh_sum_given", `var.openssh_zip == "" || var.openssh_sha256 != ""`, "openssh_zip and openssh_sha256: both, or nobody would notice another file", "add openssh_sha256: sha256sum FILE prints it"})
	}
	if !o.WithoutPayload {
		// Where the node's manifest lands between provisioner and post-processor.
		r.locals = append(r.locals, local{name: "node_manifest", expression: `"${local.image}.node.json"`})
	}
	vars, err := r.variables()
	if err != nil {
		return nil, err
	}
	r.addPaths(vars)
	if o.Values != nil {
		if err := o.Values.check(vars, r.demands, platform.Name); err != nil {
			return nil, err
		}
	}
	for _, step := range []func([]Variable) error{r.addHCL, r.addValues, r.addAnswers, r.addScripts, r.addReadme} {
		if err := step(vars); err != nil {
			return nil, err
		}
	}
	if err := r.addExtraScripts(); err != nil {
		return nil, err
	}
	slices.SortFunc(r.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return &Folder{Platform: *platform, Profile: o.Profile, Windows: o.Windows, Variables: vars, Files: r.files}, nil
}

func (r *render) add(path string, data []byte) { r.files = append(r.files, File{path, data}) }

// variables are all of the folder's, in the order in which people care.
func (r *render) variables() ([]Variable, error) {
	vars := append(imageName(r.Windows, r.Profile), r.vars...)
	vars = append(vars, r.attributeVariables()...)
	if r.platform.Medium != builder.Cloud {
		vars = append(vars, password())
	}
	vars = append(vars, keys())
	if r.communicator == "" {
		vars = append(vars, r.reachVariables()...)
	}
	vars = append(vars, r.windowsVariables()...)
	vars = append(vars, r.answerVariables()...)
	vars = append(vars, companyVariables()...)
	if r.CloudbaseInit {
		vars = append(vars, cloudbaseVariables()...)
	}
	node, err := r.nodeVariables()
	return append(vars, node...), err
}

// addPaths adds a local for each variable that names a file: a relative path is
// one below the template's folder, wherever packer is called from. What a rule
// says of a file's content becomes a demand, since rules don't know the folder.
func (r *render) addPaths(vars []Variable) {
	for i, v := range vars {
		if !v.Path {
			continue
		}
		r.locals = append(r.locals, local{name: v.Name, expression: pathExpression(v.Name)})
		own := v.Rules[:0:0]
		for n, rule := range v.Rules {
			if !strings.Contains(rule.Condition, "file(") {
				own = append(own, rule)
				continue
			}
			name := v.Name + "_" + number(n+1)
			r.demand(demand{name, strings.ReplaceAll(rule.Condition, "file(var.", "file(local."), v.Name + ": " + strings.TrimSuffix(rule.Message, "."), v.Fix})
		}
		vars[i].Rules = own
	}
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

// answers reports whether sysprep gets an answer file of ours.
func (r *render) answers() bool { return r.platform.Medium != builder.Cloud }

func (r *render) addHCL(vars []Variable) error {
	for _, f := range []struct {
		name  string
		write func([]Variable) ([]byte, error)
	}{{"versions.pkr.hcl", r.versions}, {"variables.pkr.hcl", r.variablesFile}, {"image.pkr.hcl", r.image}} {
		data, err := f.write(vars)
		if err != nil {
			return err
		}
		r.add(f.name, data)
	}
	return nil
}

func (r *render) variablesFile(vars []Variable) ([]byte, error) {
	doc, b := newDocument(generated)
	for _, v := range vars {
		b.gap()
		v.write(b)
	}
	return doc.bytes()
}

// generated heads every file.
const generated = "Made by bake template. Values belong into a var-file; the next run keeps an edit\nhere with --adopt alone."

// The least Packer whose functions and plugin protocol the templates use, and
// the last that they were run with.
const packerConstraint = ">= 1.12.0, < 2.0.0"

// ownPlugin brings the data source, the provisioner and the post-processor.
var ownPlugin = Plugin{Name: "winbake", Source: "github.com/winbake/winbake", Constraint: ">= 0.1.0, < 1.0.0"}

func (r *render) versions([]Variable) ([]byte, error) {
	doc, b := newDocument(generated)
	b.gap()
	packer := b.block("packer")
	// Packer shows the whole line to whoever has an older one.
	packer.remarked("required_version", packerConstraint, "others: https://developer.hashicorp.com/packer/install")
	packer.gap()
	required := packer.block("required_plugins")
	plugins := []Plugin{r.platform.Plugin}
	if !r.WithoutPayload {
		plugins = append(plugins, ownPlugin)
	}
	for _, p := range plugins {
		required.set(p.Name, "{\nsource = "+quote(p.Source)+"\nversion = "+quote(p.Constraint)+"\n}")
	}
	return doc.bytes()
}
