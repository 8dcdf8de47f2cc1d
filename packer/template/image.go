package template

import (
	"errors"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/packer/builder"
)

// sourceName is the label of the source block, the same in every template.
const sourceName = "windows"

// image is the file with the source and the build.
func (r *render) image([]Variable) ([]byte, error) {
	doc, b := newDocument(generated)
	b.gap()
	if !r.WithoutPayload {
		b.comment("Read before anything is made: a payload that isn't what it should be costs\nseconds here and an hour at the end.")
		data := b.block("data", "winbake-payload", "node")
		data.set("payload", pathExpression("payload")) // Packer may read it before locals
		data.set("digest", "var.payload_digest")
		data.fromVars("release")
		data.text("profile", string(r.Profile))
		if r.communicator == "" {
			data.gap()
			data.comment("WinRM is too slow for these files: the machine fetches them from Packer.")
			data.set("unpack", `var.communicator == "winrm"`)
		}
		b.gap()
	}
	r.writeLocals(b)
	source := b.block("source", r.platform.Name, sourceName)
	r.source(source)
	b.gap()
	build, err := r.build()
	if err != nil || doc.err != nil {
		return nil, errors.Join(err, doc.err)
	}
	return hclwrite.Format(append(doc.file.Bytes(), build...)), nil
}

// passwordLocals encode the passwords for the answer files. The one-time
// password is random, made once a run, and told to nobody.
func (r *render) passwordLocals() []local {
	locals := []local{{"one_time_password", `"aA1!${uuidv4()}"`, true},
		{"one_time_encoded", `textencodebase64("${local.one_time_password}` + answer.PasswordSuffix + `", "UTF-16LE")`, true}}
	if r.platform.Medium == builder.ISO {
		locals = append(locals,
			local{"admin_encoded", `textencodebase64("${var.admin_password}` + answer.PasswordSuffix + `", "UTF-16LE")`, true},
			local{"logon_encoded", `textencodebase64("${var.admin_password}` + answer.AutoLogonSuffix + `", "UTF-16LE")`, true})
	}
	return locals
}

// writeLocals puts each sensitive local into a block of its own, which is how
// Packer has them.
func (r *render) writeLocals(b *body) {
	all := r.locals
	if r.answers() {
		all = append(r.passwordLocals(), all...)
	}
	var plain *body
	for _, l := range all {
		if l.sensitive {
			block := b.block("local", l.name)
			block.set("expression", l.expression)
			block.set("sensitive", "true")
			b.gap()
		}
	}
	for _, l := range all {
		if l.sensitive {
			continue
		}
		if plain == nil {
			plain = b.block("locals")
		}
		plain.set(l.name, l.expression)
	}
	if plain != nil {
		b.gap()
	}
	r.writeDemands(b)
}

func (r *render) writeDemands(b *body) {
	if len(r.demands) == 0 {
		return
	}
	b.comment("What has to go together: packer validate ends here where it doesn't, with the reason\nas a file's name.")
	block := b.block("locals")
	for _, d := range r.demands {
		block.set(d.name, "("+d.condition+") ? true : file("+quote(d.message)+")")
	}
	b.gap()
}

// connect writes how Packer gets into a machine whose password it knows.
func (r *render) connect(b *body) {
	b.gap()
	b.set("communicator", "var.communicator")
	b.text("ssh_username", "Administrator")
	b.set("ssh_password", "var.admin_password")
	b.fromVars("ssh_port")
	b.set("ssh_timeout", "var.connect_timeout")
	b.comment("scp would need a program on the machine that not every OpenSSH has.")
	b.text("ssh_file_transfer_method", "sftp")
	b.text("winrm_username", "Administrator")
	b.set("winrm_password", "var.admin_password")
	b.set("winrm_timeout", "var.connect_timeout")
	b.set("winrm_use_ssl", "true")
	b.set("winrm_insecure", "true")
	if !r.WithoutPayload {
		b.set("http_directory", `var.communicator == "winrm" ? data.winbake-payload.node.directory : null`)
	}
}

// shutdown writes what ends the machine once sysprep has: the command returns
// before the connection goes.
func shutdown(b *body) {
	b.gap()
	b.text("shutdown_command", `shutdown.exe /s /t 10 /f /d p:4:1 /c winbake`)
	b.text("shutdown_timeout", "30m")
}

// scriptText is a script's text: file() looks for a relative path below the
// folder, and path.root is relative to where packer is called from.
func scriptText(name string) string { return `file(abspath("${path.root}/scripts/` + name + `.ps1"))` }

// cd writes the CD that Windows Setup finds its answers on, by their name and
// not by a drive letter.
func (r *render) cd(b *body) {
	b.gap()
	b.text("cd_label", "PROVISION")
	content := "{\n" +
		`"autounattend.xml" = templatefile(abspath("${path.root}/answers/autounattend.xml.pkrtpl"), {` + "\n" +
		answer.VarEFI + " = local.efi\n" +
		answer.VarHasKey + ` = var.product_key != ""` + "\n" +
		answer.VarProductKey + " = var.product_key\n" +
		answer.VarImageKey + ` = can(regex("^[0-9]+$", var.windows_image)) ? "INDEX" : "NAME"` + "\n" +
		answer.VarImageValue + " = var.windows_image\n" +
		answer.VarLanguage + " = var.language\n" +
		answer.VarTimeZone + " = var.time_zone\n" +
		answer.VarLocale + " = var.user_locale\n" +
		answer.VarPassword + " = local.admin_encoded\n" +
		answer.VarAutoLogon + " = local.logon_encoded\n" +
		"})\n" +
		`"winbake.ps1" = ` + scriptText("winbake") + "\n" +
		`"company.ps1" = ` + scriptText("company") + "\n" +
		`"company.json" = local.company` + "\n"
	if r.tools != "" {
		content += `"tools.ps1" = ` + scriptText(r.tools) + "\n"
	}
	content += `"reach.ps1" = file(abspath(var.communicator == "ssh" ? "${path.root}/scripts/openssh.ps1" : "${path.root}/scripts/winrm.ps1"))` + "\n" +
		`"openssh.sum" = "${var.openssh_sha256}\n"` + "\n}"
	b.set("cd_content", content)
	files := `var.openssh_zip == "" ? [] : [local.openssh_zip]`
	if r.cdFiles != "" {
		files = "concat(" + r.cdFiles + ", " + files + ")"
	}
	b.set("cd_files", files)
}
