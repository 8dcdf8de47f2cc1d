package lint

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

// TestSecrets: a password is found wherever it is written down, and what isn't
// written down, or isn't a password, isn't one.
func TestSecrets(t *testing.T) {
	const id = "template.secret"
	with := func(more, object string, severity finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": "source \"null\" \"w\" {\n  ssh_host = \"h\"\n}\n" + more}, id, object, severity}
	}
	source := func(body, more, object string, severity finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": "source \"null\" \"w\" {\n" + body + "\n}\n" + more}, id, object, severity}
	}
	variable := func(name, rest string) string { return "variable \"" + name + "\" {\n" + rest + "\n}\n" }
	given := func(file, text string, severity finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": "source \"null\" \"w\" {\n  ssh_password = var.login\n}\n" + variable("login", "sensitive = true"), file: text}, id, "var.login", severity}
	}
	judge(t, map[string]theirs{
		"a local":                    source("ssh_password = local.it", "locals {\n  it = \"hunter2\"\n}\n", "local.it", finding.Block),
		"a local by its name":        with("locals {\n  admin_pw = \"hunter2\"\n}\n", "local.admin_pw", finding.Block),
		"a local's object":           source("ssh_password = local.it.login", "locals {\n  it = { login = \"hunter2\" }\n}\n", "null.w.ssh_password", finding.Block),
		"a local of a variable":      source("ssh_password = local.it", "locals {\n  it = var.login\n}\n"+variable("login", "default = \"hunter2\"\nsensitive = true"), "var.login", finding.Block),
		"a block in a block":         source("customize {\n  windows_options {\n    admin_password = \"hunter2\"\n  }\n}", "", "null.w.customize.windows_options.admin_password", finding.Block),
		"a key of an object":         source("options = { admin_password = \"hunter2\" }", "", "null.w.options.admin_password", finding.Block),
		"an object for a function":   source("content = templatefile(\"a\", { password = \"hunter2\" })", "", "null.w.content.password", finding.Block),
		"a number":                   source("ssh_password = 12345678", "", "null.w.ssh_password", finding.Block),
		"a conditional":              source("ssh_password = var.login == \"\" ? \"hunter2\" : var.login", variable("login", "default = \"\"\nsensitive = true"), "null.w.ssh_password", finding.Block),
		"winrm_pass":                 with(variable("winrm_pass", "default = \"hunter2\""), "var.winrm_pass", finding.Block),
		"admin_pwd":                  with(variable("admin_pwd", "default = \"hunter2\""), "var.admin_pwd", finding.Block),
		"credential":                 with(variable("credential", "default = \"hunter2\""), "var.credential", finding.Block),
		"adminPassword":              with(variable("adminPassword", "default = \"hunter2\""), "var.adminPassword", finding.Block),
		"any name, by its use":       source("winrm_password = var.login", variable("login", "default = \"hunter2\"\nsensitive = true"), "var.login", finding.Block),
		"a map's default":            with(variable("vcenter", "default = { user = \"u\", password = \"hunter2\" }"), "var.vcenter", finding.Block),
		"a map's element, by use":    source("ssh_password = var.vcenter[\"login\"]", variable("vcenter", "default = { user = \"u\", login = \"hunter2\" }"), "var.vcenter", finding.Block),
		"a list of maps":             with(variable("hosts", "default = [{ password = \"hunter2\" }]"), "var.hosts", finding.Block),
		"variables without a type":   with("variables {\n  password = \"hunter2\"\n}\n", "var.password", finding.Block),
		"environment_vars":           with(provisioned("environment_vars = [\"A=b\", \"ADMIN_PASSWORD=hunter2\"]"), "powershell.environment_vars.ADMIN_PASSWORD", finding.Block),
		"env":                        with(provisioned("env = { ADMIN_PASSWORD = \"hunter2\" }"), "powershell.env.ADMIN_PASSWORD", finding.Block),
		"a post-processor":           with("build {\n  post-processor \"vsphere\" {\n    password = \"hunter2\"\n  }\n}\n", "vsphere.password", finding.Block),
		"a data source":              with("data \"http\" \"x\" {\n  token = \"hunter2\"\n}\n", "http.x.token", finding.Block),
		"a private key":              source("ssh_private_key = \"-----BEGIN OPENSSH PRIVATE KEY-----\\nx\"", "", "null.w.ssh_private_key", finding.Block),
		"a var-file of Packer's":     given("x.auto.pkrvars.hcl", "login = \"hunter2\"\n", finding.Block),
		"a var-file in JSON":         given("x.auto.pkrvars.json", `{"login": "hunter2"}`, finding.Block),
		"a var-file beside":          given("prod.pkrvars.hcl", "login = \"hunter2\"\n", finding.Block),
		"an empty var-file":          given("x.auto.pkrvars.hcl", "login = \"\"\n", finding.Pass),
		"a name and a var-file":      {map[string]string{"w.pkr.hcl": variable("admin_password", "sensitive = true") + "build {\n}\n", "prod.pkrvars.json": `{"admin_password": "hunter2"}`}, id, "var.admin_password", finding.Block},
		"not sensitive":              with(variable("admin_pwd", "type = string"), "var.admin_pwd", finding.Warn),
		"a sensitive user name":      with(variable("build_username", "default = \"Administrator\"\nsensitive = true"), "var.build_username", finding.Warn),
		"a key's path":               with(variable("ssh_private_key", "default = \"~/.ssh/id_rsa\""), "", finding.Pass),
		"a key's path, as it is":     source("ssh_private_key = \"keys/id_rsa\"", "", "", finding.Pass),
		"credentials' path":          with(variable("credentials", "default = \"/etc/gcp.json\""), "", finding.Pass),
		"a switch":                   with(variable("reset_password", "default = true"), "", finding.Pass),
		"a switch as text":           with(variable("no_password", "default = \"False\""), "", finding.Pass),
		"a switch as a number":       with(variable("no_password", "default = 0"), "", finding.Pass),
		"a switch in environment":    with(provisioned("environment_vars = [\"RESET_PASSWORD=yes\"]"), "", finding.Pass),
		"a switch's name and more":   with(variable("admin_password", "default = \"true-blue\""), "var.admin_password", finding.Block),
		"Packer's placeholder":       with(provisioned("elevated_password = \"{{.WinRMPassword}}\""), "", finding.Pass),
		"one in environment":         with(provisioned("environment_vars = [\"ADMIN_PASSWORD={{ .WinRMPassword }}\"]"), "", finding.Pass),
		"another file's placeholder": source("content = templatefile(\"a\", { password = \"$${password}\" })", "", "", finding.Pass),
		"a default of placeholders":  with(variable("login_token", "default = \"{{user `a`}}{{user `b`}}\""), "", finding.Pass),
		"text between placeholders":  with(provisioned("elevated_password = \"{{.A}}hunter2{{.B}}\""), "powershell.elevated_password", finding.Block),
		"a published product key":    with(provisioned("env = { PRODUCT_KEY = \"VDYBN-27WPP-V4HQT-9VMD4-VMK7H\" }"), "", finding.Pass),
		"one as a default":           with(variable("product_key", "default = \"tvrh6-whnxv-r9wg3-9xrfy-my832\""), "", finding.Pass),
		"somebody's product key":     with(variable("product_key", "default = \"ABCDE-27WPP-V4HQT-9VMD4-VMK7H\""), "var.product_key", finding.Block),
		"tags":                       source("azure_tags = { token = \"blue\" }", "", "", finding.Pass),
		"tags by a local":            source("tags = local.tags", "locals {\n  tags = { token = \"blue\" }\n}\n", "", finding.Pass),
		"tags by a variable":         source("run_tags = var.run_tags", variable("run_tags", "default = { token = \"blue\" }"), "", finding.Pass),
		"labels in an object":        source("options = { labels = { a = { token = \"blue\" } }, b = 1 }", "", "", finding.Pass),
		"tags in a variable":         with(variable("vm", "default = { tags = { token = \"blue\" } }"), "", finding.Pass),
		"tags that are reckoned":     source("options = { tags = { for k in [\"a\"] : k => { token = \"blue\" } } }", "", "", finding.Pass),
		"beside tags":                source("options = { tags = { token = \"blue\" }, password = \"hunter2\" }", "", "null.w.options.password", finding.Block),
		"tags that a password is in": source("ssh_password = var.tags[\"login\"]", variable("tags", "default = { login = \"hunter2\" }"), "var.tags", finding.Block),
		"a variable by its index":    source("ssh_password = var[\"login\"]", variable("login", "default = \"hunter2\""), "var.login", finding.Block),
		"without a default":          source("ssh_password = var.login", variable("login", "sensitive = true"), "", finding.Pass),
		"the environment's":          source("ssh_password = var.login", variable("login", "default = env(\"LOGIN\")\nsensitive = true"), "", finding.Pass),
		"a vault's":                  source("ssh_password = vault(\"secret/${var.stage}\", \"password\")", variable("stage", "default = \"prod\""), "", finding.Pass),
		"a vault's, by a local":      source("ssh_password = local.it", "locals {\n  it = vault(\"secret/a\", \"password\")\n}\n", "", finding.Pass),
		"a data source's":            source("ssh_password = data.amazon-secretsmanager.x.value", "", "", finding.Pass),
		"a variable in environment":  with(provisioned("environment_vars = [\"ADMIN_PASSWORD=${var.login}\"]")+variable("login", "sensitive = true"), "", finding.Pass),
		"an object's other elements": with(variable("credentials", "default = { user = \"u\" }\nsensitive = true"), "var.credentials", finding.Pass),
	})
}

// A var-file that lies elsewhere is somebody's own: it doesn't go with the template.
func TestSecretsElsewhere(t *testing.T) {
	dir := writeFiles(t, map[string]string{"w.pkr.hcl": "variable \"admin_password\" {\n  sensitive = true\n}\nsource \"null\" \"w\" {\n  ssh_password = var.admin_password\n}\n"})
	values := filepath.Join(t.TempDir(), "v.pkrvars.hcl")
	if err := os.WriteFile(values, []byte("admin_password = \"hunter2\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := check(t, dir, Options{VarFiles: []string{values}})
	i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.ID == "template.secret" })
	if i < 0 || found[i].Severity != finding.Pass {
		t.Errorf("have %+v", found)
	}
}

// What is asked for stands over what Packer reads by itself.
func TestVarFilesInOrder(t *testing.T) {
	dir := writeFiles(t, map[string]string{"w.pkr.hcl": fromCD("guest_os_type = var.id", "a") + "variable \"id\" {\n}\n", "x.auto.pkrvars.hcl": "id = \"windowsBogus\"\n"})
	values := filepath.Join(t.TempDir(), "v.pkrvars.hcl")
	if err := os.WriteFile(values, []byte("id = \"windows2019srvNext_64Guest\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range check(t, dir, Options{VarFiles: []string{values}}) {
		if f.ID == "template.guest-id" && f.Severity != finding.Pass {
			t.Errorf("have %+v", f)
		}
	}
}
