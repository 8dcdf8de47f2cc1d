package lint

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

// TestEntry: what Windows Setup runs lets Packer in, as somebody who is there.
func TestEntry(t *testing.T) {
	const first = `<FirstLogonCommands><SynchronousCommand><Order>1</Order><CommandLine>powershell -Command "Get-PSDrive | ForEach-Object { Join-Path $_.Root a.ps1 } | ForEach-Object { &amp; $_ }"</CommandLine></SynchronousCommand></FirstLogonCommands>`
	const ssh, http = "Add-WindowsCapability -Online -Name OpenSSH.Server~~~~0.0.1.0\n", "winrm quickconfig -q\n"
	const https = http + "New-Item WSMan:\\localhost\\Listener -Transport HTTPS -Address * -CertificateThumbPrint $c.Thumbprint\n"
	const sftp = "\nssh_file_transfer_method = \"sftp\"\n"
	with := func(body, commands, script string, more ...string) map[string]string {
		answer := strings.Replace(setup(""), "</AutoLogon>", "</AutoLogon>"+commands+strings.Join(more, ""), 1)
		files := map[string]string{"autounattend.xml": answer, "a.ps1": script,
			"w.pkr.hcl": "source \"vsphere-iso\" \"w\" {\n" + body + "\ncd_files = [\"autounattend.xml\", \"a.ps1\"]\nnetwork_adapters {\nnetwork = \"a\"\n}\n}\nvariable \"a\" {}\n"}
		return files
	}
	logon := func(name, more string) map[string]string {
		files := with(sftp, first, ssh, more)
		files["autounattend.xml"] = strings.Replace(files["autounattend.xml"], "<Username>Administrator", "<Username>"+name, 1)
		return files
	}
	local := func(name string) string {
		return "<UserAccounts><LocalAccounts><LocalAccount><Name>" + name + "</Name></LocalAccount></LocalAccounts></UserAccounts>"
	}
	const winrm = "communicator = \"winrm\"\nwinrm_username = \"Administrator\"\n"
	const id, object = "template.reach", "vsphere-iso.w"
	judge(t, map[string]theirs{
		"SSH":                            {with(sftp, first, ssh), id, object, finding.Pass},
		"no commands":                    {with(sftp, "", ssh), id, object, finding.Warn},
		"another script":                 {with(sftp, strings.Replace(first, "a.ps1", "b.ps1", 1), ssh), id, object, finding.Warn},
		"one that does something else":   {with(sftp, first, "Write-Output 1\n"), id, object, finding.Warn},
		"one that is fetched":            {with(sftp, first, "Invoke-WebRequest https://example.com/a.ps1 -OutFile C:\\b.ps1\n& C:\\b.ps1\n"), id, object, finding.Pass},
		"one that isn't here":            {with(sftp+"\nfloppy_files = [\"tools/b.exe\"]\n", first, "& D:\\b.exe\n"), id, object, finding.Pass},
		"typed at the keyboard":          {with(sftp+"boot_command = [\"powershell http://{{ .HTTPIP }}/a.ps1\"]\n", "", ""), id, object, finding.Pass},
		"WinRM by SSH's script":          {with(winrm+"winrm_use_ssl = true", first, ssh), id, object, finding.Warn},
		"WinRM without HTTPS":            {with(winrm+"winrm_use_ssl = true", first, http), id, object, finding.Warn},
		"WinRM":                          {with(winrm+"winrm_use_ssl = true", first, https), id, object, finding.Pass},
		"WinRM as Windows has it":        {with(winrm+"winrm_use_ntlm = true", "", ""), id, object, finding.Pass},
		"given at build time":            {with("communicator = var.a\n", "", ""), id, object, finding.Pass},
		"nobody of this name":            {with(sftp+"ssh_username = \"packer\"\n", first, ssh), id, object, finding.Warn},
		"an account of the file":         {with(sftp+"ssh_username = \"Packer\"\n", first, ssh, local("packer")), id, object, finding.Pass},
		"one whose name is filled in":    {with(sftp+"ssh_username = \"packer\"\n", first, ssh, local("${user}")), id, object, finding.Pass},
		"one that a script makes":        {with(sftp+"ssh_username = \"packer\"\n", first, ssh+"net user packer $p /add\n"), id, object, finding.Pass},
		"one of a domain":                {with(sftp+"ssh_username = \"corp\\\\packer\"\n", first, ssh), id, object, finding.Pass},
		"the administrator in French":    {with(sftp+"ssh_username = \"Administrateur\"\n", first, ssh), id, object, finding.Pass},
		"a logon of nobody":              {logon("builder", ""), "template.answer", "autounattend.xml", finding.Block},
		"a logon of an account":          {logon("builder", local("builder")), "template.answer", "autounattend.xml", finding.Pass},
		"a logon of this machine's":      {logon(`.\Administrator`, ""), "template.answer", "autounattend.xml", finding.Pass},
		"a logon that is filled in":      {logon("${user}", ""), "template.answer", "autounattend.xml", finding.Pass},
		"no communicator":                {map[string]string{"w.pkr.hcl": sourced("azure-arm", `communicator = "none"`) + provisioned(`inline = ["ver"]`)}, id, "azure-arm.a", finding.Block},
		"no communicator, and no need":   {map[string]string{"w.pkr.hcl": sourced("azure-arm", `communicator = "none"`) + "build {\nprovisioner \"shell-local\" {\ninline = [\"true\"]\n}\n}\n"}, id, "azure-arm.a", finding.Pass},
		"an answer file that is no XML":  {with(sftp, "<a>&</a>", ssh), id, object, finding.Pass},
		"a disk that has Windows":        {map[string]string{"w.pkr.hcl": sourced("qemu", "disk_image = true\nssh_username = \"b\""+sftp+"\nshutdown_command = \"shutdown /s\"\ncd_files = [\"autounattend.xml\"]"), "autounattend.xml": setup("")}, id, "qemu.a", finding.Pass},
		"an answer file that can't read": {map[string]string{"w.pkr.hcl": fromCD(sftp+"network_adapters {\n}\n", "nothing.exe")}, id, object, finding.Pass},
	})
}
