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
	r.script(b, "ready", "", "", "C:\\ProgramData\\winbake has to be there before files are put into it.")
	r.script(b, "windows-release", `{ WINBAKE_BUILD = var.os_build, WINBAKE_LANGUAGE = var.language }`, "", "")
	if r.Profile == OpenShift {
		r.script(b, "no-runtime", "", "", "")
	}
	if r.vsphere {
		r.script(b, "vmware-tools", "", "", "")
		r.script(b, "tools-conf", "", "", "")
	}
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
	r.elevated(b, "openssh", "", "")
	r.script(b, "firewall", "", "", "")
	if r.media != fromCloud {
		r.access(b, "")
	}
	if !r.WithoutPayload {
		r.node(b)
	}
	if r.answers() {
		r.leftBehind(b)
	}
	r.script(b, "seal", "", "", "")
	if r.before != "" {
		r.script(b, r.before, "", "", "")
	}
	if r.media == fromCloud {
		r.access(b, "Late: it takes Packer's own key away, and with it the way back in.")
	}
	r.generalize(b)
	r.postProcessors(b)
}

func (r *render) access(b *body, comment string) {
	r.script(b, "ssh-access", `{ WINBAKE_KEYS = file(abspath(pathexpand(var.authorized_keys_file))) }`, "", comment)
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

// restart waits for the second restart too, which an update may need.
func restart(b *body, timeout string) {
	p := b.block("provisioner", "windows-restart")
	p.text("restart_timeout", timeout)
	p.set("check_registry", "true")
	b.gap()
}

// node is our plugin's step: files, services and the check of both.
func (r *render) node(b *body) {
	b.comment("Node files from the payload, byte for byte, the services of this profile, and\nthe node's check, whose findings end the build unless they are accepted.")
	p := b.block("provisioner", "winbake-node")
	p.fromVars("payload")
	p.set("digest", "var.payload_digest")
	p.text("profile", string(r.Profile))
	p.fromVars("accept", "verify_binary")
	p.set("manifest", "local.node_manifest")
	if r.FirstBootCheck {
		p.set("first_boot_check", "true")
	}
	b.gap()
	if r.FirstBootCheck {
		r.script(b, "first-boot-check", `{ WINBAKE_ACCEPT = join(";", var.accept) }`, "", "")
	}
}

// leftBehind are the files that work in the clones.
func (r *render) leftBehind(b *body) {
	for _, name := range []string{"first-boot", "host-name"} {
		p := b.block("provisioner", "file")
		p.set("source", `"${path.root}/scripts/`+name+`.ps1"`)
		p.text("destination", ownFolder+"/"+name+".ps1")
		b.gap()
	}
	p := b.block("provisioner", "file")
	p.set("content", `templatefile("${path.root}/answers/unattend.xml.pkrtpl", {`+"\n"+
		answer.VarLanguage+" = var.language\n"+
		answer.VarTimeZone+" = var.time_zone\n"+
		answer.VarPassword+" = local.one_time_encoded\n"+
		answer.VarHostPrefix+" = var.host_name_prefix\n})")
	p.text("destination", ownFolder+"/unattend.xml")
	b.gap()
}

// generalize runs sysprep. It's tried again, since a script that is run a
// second time waits for the first one's sysprep.
func (r *render) generalize(b *body) {
	program, arguments := r.sysprep[0], r.sysprep[1]
	if program == "" {
		program = `C:\Windows\System32\Sysprep\sysprep.exe`
		arguments = `/generalize /oobe /quit /quiet /unattend:` + strings.ReplaceAll(ownFolder, "/", `\`) + `\unattend.xml`
	}
	r.script(b, "generalize", "{ WINBAKE_PROGRAM = "+quote(program)+", WINBAKE_ARGUMENTS = "+quote(arguments)+" }", "3",
		"The last step, and it survives a dropped connection: sysprep runs in a task, and\na second try waits for the first.")
}

func (r *render) postProcessors(b *body) {
	if r.WithoutPayload {
		b.block("post-processor", "manifest").set("output", `"${var.image_name}.packer.json"`)
		return
	}
	p := b.block("post-processor", "winbake-manifest")
	p.set("manifest", "local.node_manifest")
	p.set("output", `"${var.image_name}.winbake.json"`)
}
