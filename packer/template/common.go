package template

import "github.com/winbake/winbake/packer/builder"

// publicKeyPattern is one public key as authorized_keys has it, of the kinds that
// sshd of Windows Server 2022 takes.
const publicKeyPattern = `^\s*(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh.com) AAAA`

// Checksums that Packer takes and that are worth something.
const checksumPattern = `^(sha256:[0-9a-fA-F]{64}|sha512:[0-9a-fA-F]{128})$`

// windowsPattern is in names of every Windows that a base image may be mistaken
// for.
const windowsPattern = `20(12|16|19|22|25)|Windows (7|8|10|11)\b`

// ofRelease refuses the name of another Windows; names that say nothing of it
// pass.
func (r *render) ofRelease(name string) Rule {
	return Rule{"!can(regex(" + quote(windowsPattern) + ", var." + name + ")) || can(regex(" + quote(r.Windows) + ", var." + name + "))",
		sentence("variable " + name + " names another Windows than " + r.release().name + ", which the template is for")}
}

// imageName is what the result is called, and what tells a build from the one
// before: nothing is ever overwritten.
func imageName(release string, profile Profile) []Variable {
	return []Variable{
		text("image_name", "windows-server-"+release+"-"+string(profile), "What images of this template are called. The image's own name has image_version behind it.",
			matches("image_name", `^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$`, "image_name has to be letters, digits, dots and dashes, 48 at most", false)),
		text("image_version", "", "What tells this image from the one before, such as 42. Empty is the time of the build in UTC: 20261123-0413.",
			matches("image_version", `^[A-Za-z0-9._-]{1,14}$`, "image_version has to be letters, digits, dots and dashes, 14 at most", true)),
	}
}

// password is the administrator's while the image is made.
func password() Variable {
	v := secret("admin_password", "Password of the local administrator while the image is made. It doesn't outlive the build: sysprep replaces it.")
	v.Rules = []Rule{
		{"length(var.admin_password) >= 14 && length(var.admin_password) <= 127", "Variable admin_password has to have 14 to 127 characters."},
		{`can(regex("[a-z]", var.admin_password)) && can(regex("[A-Z]", var.admin_password)) && can(regex("[0-9]", var.admin_password))`,
			"Variable admin_password has to have lower case, upper case and digits."},
		{`!can(regex("(?i)passw[o0]rd|s3cr3t|secret|administrator|vagrant|packer|changeme|winbake", var.admin_password))`,
			"Variable admin_password holds a word that everybody tries first."},
	}
	v.Fix = "take a random one, from the environment: PKR_VAR_admin_password=\"aA1$(openssl rand -hex 16)\""
	return v
}

// keys is the public half of the key that may log on.
func keys() Variable {
	v := needed("authorized_keys_file", "File with the public SSH keys that may log on as administrator. On OpenShift: the public half of the key in the secret cloud-private-key.",
		Rule{`can(regex("(?m)` + escaped(publicKeyPattern) + `", file(var.authorized_keys_file)))`,
			"it has to be a file with public SSH keys, such as ~/.ssh/id_ed25519.pub."},
		Rule{`!can(regex("PRIVATE KEY", file(var.authorized_keys_file)))`,
			"it is a private key, and the image would carry it: give the .pub beside it."},
	)
	v.Path = true
	v.Fix = "ssh-keygen -y -f KEY > KEY.pub writes the public half of a key: give that file"
	return v
}

// nodeVariables are about the payload, where there is one.
func (r *render) nodeVariables() ([]Variable, error) {
	if r.WithoutPayload {
		return nil, nil
	}
	payload := needed("payload", "Payload image that the node's files come from: REGISTRY/REPOSITORY@sha256:..., or the path of an OCI layout or tarball.")
	payload.Path = true
	digest := needed("payload_digest", "Digest of the payload image. Another image under the same name ends the build.",
		matches("payload_digest", `^sha256:[0-9a-f]{64}$`, "payload_digest has to be sha256: and 64 hexadecimal digits", false))
	if r.Payload != (Payload{}) {
		reference, err := r.portable(r.Payload.Reference)
		if err != nil {
			return nil, err
		}
		payload.Default, digest.Default = quote(reference), quote(r.Payload.Digest)
	}
	return []Variable{payload, digest,
		text("release", r.Release, "OpenShift release that the payload has to be for, such as 4.20. Empty for any.",
			matches("release", `^[4-9]\.[0-9]{1,2}$`, "release has to be such as 4.20", true)),
		list("accept", "[]", "IDs of findings of the node's check that don't end the build.", Rule{
			`length([for a in var.accept : a if !can(regex("^WIN[0-9]{3}(=.+)?$", a))]) == 0`, "Variable accept has to be IDs such as WIN004, or WIN004=service csi-proxy."}),
		{Name: "verify_binary", Type: "string", Default: `""`, Path: true,
			Description: "The small verify.exe for nodes. Empty takes it from the payload image, else from beside the plugin."},
	}, nil
}

// windowsVariables are those of every image.
func (r *render) windowsVariables() []Variable {
	language := text("language", "en-US", "Language of Windows.", matches("language", `^[a-z]{2}-[A-Z]{2}$`, "language has to be such as en-US", false))
	if r.Profile == OpenShift {
		language.Rules = []Rule{{`var.language == "en-US"`, "OpenShift supports Windows nodes in en-US alone."}}
	}
	return []Variable{
		language,
		text("os_build", r.release().floor, "Least build and patch level of Windows.",
			matches("os_build", `^`+r.release().build()+`\.[0-9]+$`, "os_build has to be such as "+r.release().floor+": "+r.release().name+" is build "+r.release().build(), false)),
		text("updates", "windows-update", "windows-update, from whatever server Windows is set to, or none for machines that reach none: then os_build alone says whether Windows is new enough.",
			oneOf("updates", "windows-update", "none")),
		list("accept_missing_updates", "[]", "Updates that may be missing in the end, such as KB5007651, or all. Others end the build.", Rule{
			`length([for u in var.accept_missing_updates : u if !can(regex("^(KB[0-9]+|all)$", u))]) == 0`, "Variable accept_missing_updates has to be KB numbers such as KB5007651, or all."}),
	}
}

// answerVariables are those of the answer files, and what replaces them on clouds.
func (r *render) answerVariables() []Variable {
	prefix := text("host_name_prefix", "winnode-", "How a clone is called that nobody names: this and five random characters.",
		matches("host_name_prefix", `^[a-z0-9][a-z0-9-]{0,9}$`, "host_name_prefix has to be lower case letters, digits and dashes, 10 at most: a host name has no more than 15", false))
	prefix.Fix = `shorten it: host_name_prefix = "win-"`
	var vars []Variable
	if r.answers() && !r.CloudbaseInit {
		vars = append(vars, prefix)
	}
	vars = append(vars, text("user_locale", "en-US", "Formats and keyboard of Windows' users.", matches("user_locale", `^[a-z]{2,3}-[A-Z]{2}$`, "user_locale has to be such as en-GB", false)))
	if r.platform.Medium != builder.ISO {
		return vars
	}
	key := text("product_key", "", "Product key. Empty for evaluation and volume media, which ask for none.",
		matches("product_key", `^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$`, "product_key has to be five groups of five capitals and digits", true))
	key.Sensitive = true
	return append(vars,
		text("windows_image", r.release().image, "Edition in install.wim, by name or by index.", plain("windows_image"), r.ofRelease("windows_image")),
		key,
	)
}

// companyVariables are what a company's network asks for.
func companyVariables() []Variable {
	certificates := Variable{Name: "ca_certificates_file", Type: "string", Default: `""`, Path: true,
		Description: "PEM file with the company's CA certificates. They stay in the image. Empty for none.",
		Rules: []Rule{{`var.ca_certificates_file == "" || can(regex("-----BEGIN CERTIFICATE-----", file(var.ca_certificates_file)))`, "it has to be a file with certificates in PEM."},
			{`var.ca_certificates_file == "" || !can(regex("PRIVATE KEY", file(var.ca_certificates_file)))`, "it has a private key in it, and the image would carry it."}}}
	return []Variable{
		text("time_zone", "UTC", "Time zone, by Windows' name.", plain("time_zone")),
		text("proxy", "", "Proxy that Windows reaches its updates through while the image is made: http://HOST:PORT. The image has none: the cluster gives nodes theirs.",
			matches("proxy", `^https?://[^@/\s]+:[0-9]+$`, "proxy has to be such as http://proxy.example.com:3128, without a password", true)),
		list("no_proxy", "[]", "What is reached without proxy: *.example.com, 10.*."),
		text("wsus_server", "", "The company's update server, such as https://wsus.example.com:8531. It stays in the image. Empty is Microsoft's.",
			matches("wsus_server", `^https?://[^@/\s]+$`, "wsus_server has to be such as https://wsus.example.com:8531", true)),
		certificates,
	}
}

// cloudbaseVariables are the installer's, from
// https://github.com/cloudbase/cloudbase-init/releases.
func cloudbaseVariables() []Variable {
	installer := needed("cloudbase_init_msi", "CloudbaseInitSetup_VERSION_x64.msi, from the releases of github.com/cloudbase/cloudbase-init.")
	installer.Path = true
	sum := needed("cloudbase_init_sha256", "Sum of cloudbase_init_msi: another file ends the build.", matches("cloudbase_init_sha256", `^[0-9a-fA-F]{64}$`, "cloudbase_init_sha256 has to be 64 hexadecimal digits", false))
	sum.Fix = "sha256sum FILE prints it"
	return []Variable{installer, sum}
}

// reachVariables are about how Packer gets in.
func (r *render) reachVariables() []Variable {
	vars := []Variable{
		text("communicator", "ssh", "How Packer reaches the machine: ssh, or winrm where SSH can't be.", oneOf("communicator", "ssh", "winrm")),
		amount("ssh_port", 22, 1, "Port of the machine's SSH, where something forwards it."),
		text("connect_timeout", "4h", "How long Windows may take until it can be reached, such as 4h.",
			matches("connect_timeout", `^[0-9]+[mh]$`, "connect_timeout has to be such as 90m or 4h", false)),
	}
	if r.platform.Medium != builder.ISO {
		return vars
	}
	return append(vars,
		Variable{Name: "openssh_zip", Type: "string", Default: `""`, Path: true, Rules: []Rule{
			{`var.openssh_zip == "" || can(regex("(?i)openssh[^/\\\\]*[.]zip$", var.openssh_zip))`, "Variable openssh_zip has to be a file such as OpenSSH-Win64.zip."}},
			Description: "OpenSSH-Win64.zip of the Win32-OpenSSH project, for machines without Windows Update. Empty takes the capability of Windows."},
		text("openssh_sha256", "", "Sum of openssh_zip.",
			matches("openssh_sha256", `^[0-9a-fA-F]{64}$`, "openssh_sha256 has to be 64 hexadecimal digits", true)),
	)
}

// escaped is a regular expression as it stands within an HCL string.
func escaped(pattern string) string {
	q := quote(pattern)
	return q[1 : len(q)-1]
}
