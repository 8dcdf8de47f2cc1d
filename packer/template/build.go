package template

import (
	"bytes"
	_ "embed"
	"path/filepath"
	"strings"
	"text/template"
)

// ownFolder is where the image keeps what is ours.
const ownFolder = "C:/ProgramData/winbake"

//go:embed build.pkr.hcl.tmpl
var buildFile string

// build is the build block, not yet formatted.
func (r *render) build() ([]byte, error) {
	t, err := template.New("build").Funcs(template.FuncMap{"script": runScript, "elevated": elevated, "upload": upload, "restart": restart, "extra": r.extra}).Parse(buildFile)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Platform": r.platform.Name, "Profile": r.Profile, "OpenShift": r.Profile == OpenShift, "VSphere": r.vsphere, "Answers": r.answers(),
		"Payload": !r.WithoutPayload, "Cloudbase": r.CloudbaseInit, "FirstBoot": r.FirstBootCheck, "Before": r.before, "Rounds": make([]int, 3),
		"CloudbaseEnv": `env = { WINBAKE_SUM = var.cloudbase_init_sha256, WINBAKE_METADATA = ` + quote(r.platform.Metadata) + ` }`,
		"SysprepEnv":   r.sysprepEnv(),
	})
	return b.Bytes(), err
}

// runScript runs one of our scripts, with further attributes.
func runScript(name string, attributes ...string) string {
	lines := append([]string{`provisioner "powershell" {`, `script = "${path.root}/scripts/` + name + `.ps1"`}, attributes...)
	return strings.Join(lines, "\n") + "\n}\n\n"
}

// elevated runs a script in a task of SYSTEM: a network logon may not do all
// that an administrator may. What needs that asks Windows Update or waits for
// Windows' installer, which fail for a moment now and then.
func elevated(name string, attributes ...string) string {
	return runScript(name, append(attributes, "max_retries = 2", `elevated_user = "SYSTEM"`, `elevated_password = ""`)...)
}

// upload leaves a script in the image's own folder.
func upload(name string) string {
	return "provisioner \"file\" {\nsource = \"${path.root}/scripts/" + name + ".ps1\"\ndestination = \"" + ownFolder + "/" + name + ".ps1\"\n}\n\n"
}

// restart has restarted.ps1 look whether Windows wants to restart once more,
// which an update may. Packer's own check_registry only waits for Windows to do so,
// until its time is over (provisioner/windows-restart of
// https://github.com/hashicorp/packer).
func restart(timeout string) string {
	return "provisioner \"windows-restart\" {\nrestart_timeout = " + quote(timeout) +
		"\nrestart_check_command = " + quote(`powershell -executionpolicy bypass -file `+backslashed(ownFolder)+`\restarted.ps1`) + "\n}\n\n"
}

// extra are the image team's steps of a moment, in the order in which they were
// given.
func (r *render) extra(m Moment) string {
	text := ""
	for _, s := range r.ExtraScripts {
		if s.Moment == m {
			text += `provisioner "` + provisioners[strings.ToLower(filepath.Ext(s.Name))] + "\" {\nscript = " + quoteRoot(extraPath(s)) + "\n}\n\n"
		}
	}
	return text
}

func backslashed(path string) string { return strings.ReplaceAll(path, "/", `\`) }

// sysprepEnv is what generalizes: sysprep, or the platform's agent.
func (r *render) sysprepEnv() string {
	program, arguments := r.sysprep[0], r.sysprep[1]
	if program == "" {
		program = `C:\Windows\System32\Sysprep\sysprep.exe`
		arguments = `/generalize /oobe /quit /quiet /unattend:` + backslashed(ownFolder) + `\unattend.xml`
	}
	env := "env = { WINBAKE_PROGRAM = " + quote(program) + ", WINBAKE_ARGUMENTS = " + quote(arguments)
	if r.communicator == "winrm" {
		env += `, WINBAKE_CLOSE_WINRM = "true"`
	}
	return env + " }"
}
