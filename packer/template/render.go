package template

import (
	"slices"
	"strings"
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
	media    media
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
	// demands are locals that nothing refers to: see demand.
	demands []local
	// notes are for the README: what to know about this platform.
	notes []string

	files []File
}

type local struct {
	name, expression string
	sensitive        bool
}

// demand adds a condition on several variables, which packer validate refuses
// with the message. No rule can: Packer lets each see its own variable alone.
// The local can't be evaluated otherwise, and file() prints the path that isn't
// there.
func (r *render) demand(name, condition, message string) {
	r.demands = append(r.demands, local{name: name, expression: condition + " ? true : file(" + quote(message) + ")"})
}

func (r *render) release() windows { return releases[r.Windows] }

// Render makes the template folder that o describes. The error is a
// *fault.Error where o is at fault.
func Render(o Options) (*Folder, error) {
	o, platform, err := o.settle()
	if err != nil {
		return nil, err
	}
	r := &render{Options: o, platform: platform}
	platform.build(r)
	if r.media == fromISO {
		r.demand("openssh_sum_given", `var.openssh_zip == "" || var.openssh_sha256 != ""`, "openssh_sha256: it isn't given, and openssh_zip is")
	}
	if !o.WithoutPayload {
		// Where the node's manifest lands between provisioner and post-processor.
		r.locals = append(r.locals, local{name: "node_manifest", expression: `"${var.image_name}.node.json"`})
	}
	vars := r.variables()
	if o.Values != nil {
		if err := o.Values.check(vars, platform.Name); err != nil {
			return nil, err
		}
	}
	for _, step := range []func([]Variable) error{r.addHCL, r.addValues, r.addAnswers, r.addScripts, r.addReadme} {
		if err := step(vars); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(r.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return &Folder{Platform: *platform, Profile: o.Profile, Windows: o.Windows, Variables: vars, Files: r.files}, nil
}

func (r *render) add(path string, data []byte) { r.files = append(r.files, File{path, data}) }

// variables are all of the folder's, in the order in which people care.
func (r *render) variables() []Variable {
	vars := append([]Variable{r.imageName()}, r.vars...)
	if r.media != fromCloud {
		vars = append(vars, password())
	}
	vars = append(vars, keys())
	if r.communicator == "" {
		vars = append(vars, r.reachVariables()...)
	}
	vars = append(vars, r.windowsVariables()...)
	if r.answers() {
		vars = append(vars, r.answerVariables()...)
	}
	return append(vars, r.nodeVariables()...)
}

// answers reports whether sysprep gets an answer file of ours.
func (r *render) answers() bool { return r.media != fromCloud }

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

// generated heads every file, since an edit is lost on the next run.
const generated = "Made by bake template. Values belong into a var-file: an edit here is in the way\nof the next run."

// The least Packer whose functions and plugin protocol the templates use, and
// the last that they were run with.
const packerConstraint = ">= 1.12.0, < 2.0.0"

// ownPlugin brings the data source, the provisioner and the post-processor.
var ownPlugin = Plugin{"winbake", "github.com/winbake/winbake", ">= 0.1.0, < 1.0.0"}

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
