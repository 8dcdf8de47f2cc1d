package template

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// addReadme writes what to run, what to give, and what to know.
func (r *render) addReadme(vars []Variable) error {
	var b bytes.Buffer
	what := "without node files"
	if !r.WithoutPayload {
		what = "with the node files of a payload image"
	}
	fmt.Fprintf(&b, "# %s, %s, for %s\n\n", r.release().name, r.Profile, r.platform.Title)
	fmt.Fprintf(&b, "A Packer template for a node image %s. Made by `bake template %s`; values\nbelong into a var-file, and the next run keeps an edit with `--adopt` alone.\n\n", what, r.platform.Name)
	r.commands(&b)
	r.checked(&b)
	table(&b, "Values to give", vars, Variable.Required)
	r.together(&b)
	table(&b, "Values with a default", vars, func(v Variable) bool { return !v.Required() })
	b.WriteString("Secrets aren't for files: set `PKR_VAR_NAME` in the environment instead. Relative paths\nare relative to this folder, wherever packer is called from.\n")
	r.toKnow(&b)
	r.add("README.md", b.Bytes())
	return nil
}

// commands says what to run, and what has to be there before.
func (r *render) commands(b *bytes.Buffer) {
	fmt.Fprintf(b, "Packer %s, and once a machine:\n\n```console\n", packerConstraint)
	install := func(p Plugin) {
		fmt.Fprintf(b, "$ packer plugins install --path packer-plugin-%s %s\n", p.Name, p.Source)
	}
	if r.WithoutPayload {
		install(r.platform.Plugin)
	} else {
		install(ownPlugin)
	}
	b.WriteString("```\n\n")
	if r.WithoutPayload {
		b.WriteString("That is for machines without a network: `packer init` fetches the plugin itself.\n")
	} else {
		b.WriteString("winbake's documentation on golden images says how to build that one. `packer init` fetches the\nplatform's from GitHub; without a network, install it from its file in the same way:\n\n```console\n")
		install(r.platform.Plugin)
		b.WriteString("```\n")
	}
	values, file := "", "The values are in `values.auto.pkrvars.hcl`, which Packer reads by itself.\n"
	if r.Values == nil {
		values, file = "-var-file=values.pkrvars.hcl ", "Write the values into `values.pkrvars.hcl`, here or elsewhere: the next run of bake\ntemplate keeps the file.\n"
	}
	fmt.Fprintf(b, "\n%sThen, in this folder (or with its name for the dot, from anywhere):\n\n```console\n$ packer init .\n$ packer validate %[2]s.\n$ packer build %[2]s.\n```\n\n", file, values)
}

// together lists what values have to fit each other.
func (r *render) together(b *bytes.Buffer) {
	var rows []string
	for _, d := range r.demands {
		names, what, found := strings.Cut(d.message, ": ")
		if found && !strings.Contains(d.condition, "file(") {
			rows = append(rows, "- `"+strings.NewReplacer(" or ", "` or `", " and ", "` and `").Replace(names)+"`: "+what+"\n")
		}
	}
	if len(rows) > 0 {
		b.WriteString("## Values that go together\n\n`packer validate` ends where they don't.\n\n" + strings.Join(rows, "") + "\n")
	}
}

func (r *render) checked(b *bytes.Buffer) {
	fmt.Fprintf(b, "This platform's template was %s.\n`verify template .` finds what Packer doesn't look at.\n\n", r.platform.Tested)
}

func table(b *bytes.Buffer, title string, vars []Variable, keep func(Variable) bool) {
	var rows []string
	for _, v := range vars {
		if !keep(v) {
			continue
		}
		value := "`" + v.Default + "`"
		switch {
		case v.Sensitive:
			value = "secret"
		case v.Required():
			value = v.Type
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", v.Name, strings.ReplaceAll(value, "|", `\|`), v.Description))
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "## %s\n\n| name | value | what |\n|---|---|---|\n%s\n", title, strings.Join(rows, ""))
	}
}

func (r *render) toKnow(b *bytes.Buffer) {
	notes := append(slices.Clone(r.notes), "Each build makes an image of its own, called `image_name` and `image_version`; `-force` is never needed. winbake's documentation on golden images says how old ones are removed.",
		"C: grows with the disk whenever a clone starts, so MachineSets may ask for larger ones.")
	if r.answers() {
		notes = append(notes,
			"The administrator's password ends with the build: the image has a random one that its first boot replaces by another. SSH keys are the way in.")
	}
	if r.answers() && !r.CloudbaseInit {
		notes = append(notes, "A clone is called what `guestinfo.hostname` says, else `host_name_prefix` and five random characters. Event 110 of source winbake in the event log Application says where that failed.")
	}
	if !r.answers() {
		notes = append(notes, "Event 110 of source winbake in the event log Application says where a machine isn't called what the platform's metadata says.")
	}
	if r.CloudbaseInit {
		notes = append(notes, "cloudbase-init names each clone and runs its user data, as Cluster API gives it.")
	}
	if r.Profile == OpenShift && !r.WithoutPayload {
		notes = append(notes,
			"The Windows Machine Config Operator deletes and makes anew the service csi-proxy when the node joins. It is registered under the operator's own name and command, so that nothing fights for its pipes; files with the operator's sums aren't copied again.",
			"There is no container runtime in the image: the operator brings it.")
	}
	if r.FirstBootCheck {
		notes = append(notes, "Each clone checks itself when it starts for the first time: `C:\\ProgramData\\winbake\\first-boot.json`, and the event log Application, source winbake, ID 100 if all is well.")
	}
	if r.WithoutPayload {
		notes = append(notes, "There are no node files in the image: the operator copies all of them when the node joins.")
	}
	if len(notes) > 0 {
		b.WriteString("\n## To know\n\n- " + strings.Join(notes, "\n- ") + "\n")
	}
}
