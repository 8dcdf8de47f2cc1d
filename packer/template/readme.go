package template

import (
	"bytes"
	"fmt"
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
	fmt.Fprintf(&b, "A Packer template for a node image %s. Made by `bake template %s`; values\nbelong into a var-file, since the next run replaces this folder.\n\n", what, r.platform.Name)
	b.WriteString("```console\n$ packer init .\n$ packer validate -var-file=values.pkrvars.hcl .\n$ packer build -var-file=values.pkrvars.hcl .\n```\n\n")
	r.install(&b)
	r.checked(&b)
	table(&b, "Values to give", vars, Variable.Required)
	table(&b, "Values with a default", vars, func(v Variable) bool { return !v.Required() })
	b.WriteString("Secrets aren't for files: set `PKR_VAR_NAME` in the environment instead.\n")
	r.toKnow(&b)
	r.add("README.md", b.Bytes())
	return nil
}

// install says where the plugins come from when there is no network.
func (r *render) install(b *bytes.Buffer) {
	b.WriteString("`packer init` fetches plugins from GitHub. Without that, install each from a file:\n\n```console\n")
	plugins := []Plugin{r.platform.Plugin}
	if !r.WithoutPayload {
		plugins = append(plugins, ownPlugin)
	}
	for _, p := range plugins {
		fmt.Fprintf(b, "$ packer plugins install --path packer-plugin-%s %s\n", p.Name, p.Source)
	}
	b.WriteString("```\n\n")
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
	notes := r.notes
	if r.answers() {
		notes = append(notes,
			"The administrator's password ends with the build: the image has a random one that its first boot replaces by another. SSH keys are the way in.",
			"A clone is called what `guestinfo.hostname` says, else `host_name_prefix` and five random characters.")
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
