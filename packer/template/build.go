package template

import (
	"strings"

	"github.com/winbake/winbake/packer/answer"
)

// updateRounds is how often Windows Update runs, with a restart after each:
// the second round brings what the first one's updates need, the third is for
// what failed.
const updateRounds = 3

// ownFolder is where the image keeps what is ours.
const ownFolder = "C:/ProgramData/winbake"

// writeBuild writes the steps in their order: what can end the build for a bad
// base comes first, what takes hours next, and sysprep last.
func (r *render) writeBuild(b *body) {
	b.set("sources", `["source.`+r.platform.Name+`.`+sourceName+`"]`)
	b.gap()
	r.script(b, "ready", "", "3", "C:\\ProgramData\\winbake has to be there before files are put into it.")
	r.upload(b, "restarted")
	r.script(b, "windows-release", `{ WINBAKE_BUILD = var.os_build, WINBAKE_LANGUAGE = var.language }`, "", "")
	if r.Profile == OpenShift {
		r.script(b, "no-runtime", "", "", "")
	}
	r.script(b, "company", `{ WINBAKE_COMPANY = local.company }`, "", "")
	if r.vsphere {
		r.script(b, "vmware-tools", "", "", "")
		r.script(b, "tools-conf", "", "", "")
	}
	r.script(b, "extend-disk", "", "", "")
	r.extra(b, BeforeUpdates)
	r.updates(b)
	r.extra(b, AfterUpdates)
	r.elevated(b, "openssh", "", "")
	r.script(b, "firewall", "", "", "")
	if r.answers() {
		r.access(b, "")
	}
	r.node(b)
	r.elevated(b, "node-settings", `{ WINBAKE_TIME_ZONE = var.time_zone }`, "")
	r.elevated(b, "clean", "", "")
	if r.answers() {
		r.leftBehind(b)
	}
	r.extra(b, Last)
	r.script(b, "seal", `{ WINBAKE_PROXY = var.proxy }`, "", "")
	if r.before != "" {
		r.script(b, r.before, "", "", "")
	}
	if !r.answers() {
		r.access(b, "Late: it takes Packer's own key away, and with it the way back in.")
	}
	r.generalize(b)
	r.postProcessors(b)
}

// updates are rounds of Windows Update, what Windows is after them, and its
// features.
func (r *render) updates(b *body) {
	for round := range updateRounds {
		comment := ""
		if round == 0 {
			comment = "Updates bring updates: three rounds, and a look at what is left. Windows refuses\nboth to remote sessions."
		}
		r.elevated(b, "updates", `{ WINBAKE_UPDATES = var.updates }`, comment)
		restart(b, "2h")
	}
	r.elevated(b, "updates-left", `{ WINBAKE_UPDATES = var.updates, WINBAKE_ACCEPT = join(";", var.accept_missing_updates) }`, "")
	r.script(b, "windows-version", `{ WINBAKE_BUILD = var.os_build }`, "", "")
	r.elevated(b, "features", "", "")
	restart(b, "30m")
}

func (r *render) access(b *body, comment string) {
	r.script(b, "ssh-access", `{ WINBAKE_KEYS = file(local.authorized_keys_file) }`, "", comment)
}

// script runs one of our scripts.
func (r *render) script(b *body, name, env, retries, comment string) *body {
	if comment != "" {
		b.comment(comment)
	}
	p := b.block("provisioner", "powershell")
	p.set("script", `"${path.root}/scripts/`+name+`.ps1"`)
	if env != "" {
		p.set("env", env)
	}
	if retries != "" {
		p.set("max_retries", retries)
	}
	b.gap()
	return p
}

// elevated runs a script in a task of SYSTEM: a network logon may not do all
// that an administrator may. What needs that asks Windows Update or waits for
// Windows' installer, which fail for a moment now and then.
func (r *render) elevated(b *body, name, env, comment string) {
	p := r.script(b, name, env, "2", comment)
	p.text("elevated_user", "SYSTEM")
	p.set("elevated_password", `""`)
}

// restart has restarted.ps1 look whether Windows wants to restart once more,
// which an update may. Packer's own check_registry only waits for Windows to do so,
// until its time is over (provisioner/windows-restart of
// https://github.com/hashicorp/packer).
func restart(b *body, timeout string) {
	p := b.block("provisioner", "windows-restart")
	p.text("restart_timeout", timeout)
	p.text("restart_check_command", `powershell -executionpolicy bypass -file `+backslashed(ownFolder)+`\restarted.ps1`)
	b.gap()
}

func backslashed(path string) string { return strings.ReplaceAll(path, "/", `\`) }

// node is our plugin's step: files, services and the check of both.
func (r *render) node(b *body) {
	if r.WithoutPayload {
		return
	}
	b.comment("Node files from the payload, byte for byte, the services of this profile, and\nthe node's check, whose findings end the build unless they are accepted.")
	p := b.block("provisioner", "winbake-node")
	p.set("payload", "local.payload")
	p.set("digest", "var.payload_digest")
	p.text("profile", string(r.Profile))
	p.fromVars("accept")
	p.set("verify_binary", "local.verify_binary")
	p.set("manifest", "local.node_manifest")
	if r.FirstBootCheck {
		p.set("first_boot_check", "true")
	}
	b.gap()
	if r.Profile == Generic {
		r.script(b, "cluster-api", "", "", "")
	}
	if r.CloudbaseInit {
		file := b.block("provisioner", "file")
		file.set("source", "local.cloudbase_init_msi")
		file.text("destination", ownFolder+"/cloudbase-init.msi")
		b.gap()
		r.script(b, "cloudbase-init", `{ WINBAKE_SUM = var.cloudbase_init_sha256, WINBAKE_METADATA = `+quote(r.platform.Metadata)+` }`, "", "")
	}
	if r.FirstBootCheck {
		r.script(b, "first-boot-check", `{ WINBAKE_ACCEPT = join(";", var.accept) }`, "", "")
	}
}

// upload leaves a script in the image's own folder.
func (r *render) upload(b *body, name string) {
	p := b.block("provisioner", "file")
	p.set("source", `"${path.root}/scripts/`+name+`.ps1"`)
	p.text("destination", ownFolder+"/"+name+".ps1")
	b.gap()
}

// leftBehind are the files that work in the clones. Where cloudbase-init is, it
// names them.
func (r *render) leftBehind(b *body) {
	r.upload(b, "first-boot")
	if !r.CloudbaseInit {
		r.upload(b, "host-name")
	}
	vars := ""
	if !r.CloudbaseInit {
		vars = answer.VarHostPrefix + " = var.host_name_prefix\n"
	}
	p := b.block("provisioner", "file")
	p.set("content", `templatefile(abspath("${path.root}/answers/unattend.xml.pkrtpl"), {`+"\n"+
		answer.VarLanguage+" = var.language\n"+
		answer.VarTimeZone+" = var.time_zone\n"+
		answer.VarLocale+" = var.user_locale\n"+
		answer.VarPassword+" = local.one_time_encoded\n"+vars+"})")
	p.text("destination", ownFolder+"/unattend.xml")
	b.gap()
}

// generalize runs sysprep. It's tried again, since a script that is run a
// second time waits for the first one's sysprep.
func (r *render) generalize(b *body) {
	program, arguments := r.sysprep[0], r.sysprep[1]
	if program == "" {
		program = `C:\Windows\System32\Sysprep\sysprep.exe`
		arguments = `/generalize /oobe /quit /quiet /unattend:` + backslashed(ownFolder) + `\unattend.xml`
	}
	env := "WINBAKE_PROGRAM = " + quote(program) + ", WINBAKE_ARGUMENTS = " + quote(arguments)
	if r.communicator == "winrm" {
		env += `, WINBAKE_CLOSE_WINRM = "true"`
	}
	r.script(b, "generalize", "{ "+env+" }", "3",
		"The last step, and it survives a dropped connection: sysprep runs in a task, and\na second try waits for the first.")
}

func (r *render) postProcessors(b *body) {
	if r.WithoutPayload {
		b.block("post-processor", "manifest").set("output", `"${local.image}.packer.json"`)
		return
	}
	p := b.block("post-processor", "winbake-manifest")
	p.set("manifest", "local.node_manifest")
	p.set("output", `"${local.image}.winbake.json"`)
}
