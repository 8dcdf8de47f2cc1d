package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

// TestCalm: what public templates do, and what is no fault, beside what nearly looks
// like it and is one.
func TestCalm(t *testing.T) {
	const logon = `Set-ItemProperty 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon' -Name AutoAdminLogon -Value 1` + "\n"
	const sysprep = "& C:\\Windows\\System32\\Sysprep\\sysprep.exe /generalize /oobe /quit"
	script := func(text string) map[string]string {
		return map[string]string{"w.pkr.hcl": run("powershell", `script = "a.ps1"`)["w.pkr.hcl"], "a.ps1": text + "\n"}
	}
	source := func(kind, body string) map[string]string { return map[string]string{"w.pkr.hcl": sourced(kind, body)} }
	steps := func(steps ...string) map[string]string {
		return map[string]string{"w.pkr.hcl": sourced("qemu", "") + "build {\n  sources = [\"source.qemu.a\"]\n" + strings.Join(steps, "\n") + "\n}\n", "s.ps1": sysprep + "\n"}
	}
	keyed := func(key string) map[string]string {
		return map[string]string{"w.pkr.hcl": fromCD("", "autounattend.xml"), "autounattend.xml": strings.Replace(setup(""), "<UserAccounts>", "<UserData><ProductKey><Key>"+key+"</Key></ProductKey></UserData><UserAccounts>", 1)}
	}
	generic := func(text string) map[string]string {
		files := script(text)
		files[".winbake.json"] = `{"profile": "generic"}`
		return files
	}
	tools := func(text string) map[string]string {
		return map[string]string{"w.pkr.hcl": sourced("vsphere-iso", "") + provisioned(`script = "a.ps1"`), "a.ps1": text + "\n"}
	}
	again := func(scripts ...string) map[string]string {
		var all []string
		for _, name := range scripts {
			all = append(all, "  provisioner \"powershell\" {\n    script = \""+name+"\"\n  }")
		}
		files := steps(all...)
		files["a.ps1"] = "Install-WindowsUpdate -AcceptAll\n"
		return files
	}
	given := func(destination, script string) map[string]string {
		return map[string]string{"w.pkr.hcl": sourced("qemu", "cd_files = [\"autounattend.xml\"]") + "build {\n  provisioner \"file\" {\n    source = \"u.xml\"\n    destination = \"" + destination + "\"\n  }\n  provisioner \"powershell\" {\n    script = \"a.ps1\"\n  }\n}\n",
			"autounattend.xml": setup(""), "u.xml": setup(generalizePass), "a.ps1": script + "& sysprep.exe /generalize /oobe /quit /unattend:C:\\Windows\\System32\\Sysprep\\u.xml\n"}
	}
	from := func(first, second string) map[string]string {
		return map[string]string{"w.pkr.hcl": sourced("qemu", "") + "locals {\n  dir = \"${path.root}/scripts\"\n}\nbuild {\n  sources = [\"source.qemu.a\"]\n  provisioner \"powershell\" {\n    scripts = " + first + "\n  }\n  provisioner \"windows-restart\" {}\n  provisioner \"powershell\" {\n    scripts = " + second + "\n  }\n}\n",
			"scripts/a.ps1": "Write-Output a\n", "scripts/b.ps1": "Write-Output b\n", "scripts/s.ps1": sysprep + "\n"}
	}
	const last, restart = "  provisioner \"powershell\" {\n    script = \"s.ps1\"\n  }", "  provisioner \"windows-restart\" {}"
	for name, c := range map[string]struct {
		files    map[string]string
		id, what string
		found    bool
	}{
		"a clone's domain and address":     {map[string]string{"w.pkr.hcl": run("powershell", `script = "a.ps1"`)["w.pkr.hcl"], "a.ps1": "Copy-Item b.ps1 C:\\b.ps1\nSet-Content C:\\Windows\\Setup\\Scripts\\SetupComplete.cmd 'powershell -File C:\\b.ps1'\n", "b.ps1": "Add-Computer -DomainName corp.example.com -Credential $c\nNew-NetIPAddress -InterfaceAlias a -IPAddress 10.0.0.5\n"}, ruleLeft, "", false},
		"a list of steps from a folder":    {from(`formatlist("%s/%s.ps1", local.dir, ["a", "b"])`, `["${local.dir}/s.ps1"]`), "template.sysprep", "started again", false},
		"a list of steps, out of order":    {from(`formatlist("%s/%s.ps1", local.dir, ["a", "s"])`, `["${local.dir}/b.ps1"]`), "template.sysprep", "started again", true},
		"a script's lines":                 {map[string]string{"w.pkr.hcl": run("powershell", `inline = split("\n", file("${path.root}/a.ps1"))`)["w.pkr.hcl"], "a.ps1": "Write-Output a\n"}, ruleScript, "nothing but comments", false},
		"no lines":                         {run("powershell", `inline = ["", " "]`), ruleScript, "nothing but comments", true},
		"a logon":                          {script(logon), ruleLeft, "logs somebody on", true},
		"a logon that is taken away":       {script(logon + `Remove-ItemProperty 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon' -Name AutoAdminLogon`), ruleLeft, "logs somebody on", false},
		"WinRM, off at the end":            {script("winrm set winrm/config/service '@{AllowUnencrypted=\"true\"}'\nSet-Service -Name winrm -StartupType Disabled"), "template.winrm", "", false},
		"user data under a script's name":  {map[string]string{"w.pkr.hcl": sourced("amazon-ebs", `user_data_file = "u.ps1"`), "u.ps1": "<powershell>\nnet user packer Pa55 /add\n</powershell>\n"}, ruleScript, "", false},
		"an account in it":                 {map[string]string{"w.pkr.hcl": sourced("amazon-ebs", `user_data_file = "u.ps1"`), "u.ps1": "<powershell>\nnet user packer Pa55 /add\n</powershell>\n"}, ruleLeft, "an account is made", true},
		"a source of a file":               {map[string]string{"w.pkr.hcl": sourced("azure-arm", `communicator = "winrm"`) + "source \"file\" \"b\" {\n  content = \"a\"\n  target = \"b\"\n}\n"}, "template.reach", "scp", false},
		"Windows' own administrator":       {map[string]string{"w.pkr.hcl": fromCD("", "autounattend.xml"), "autounattend.xml": strings.Replace(setup(""), "<UserAccounts>", "<UserAccounts><LocalAccounts><LocalAccount><Name>Administrator</Name></LocalAccount></LocalAccounts>", 1)}, ruleLeft, "", false},
		"no matter who runs it":            {script("Add-LocalGroupMember -Group Administrators -Member $env:USERNAME"), ruleLeft, "administrator", false},
		"one that leaves again":            {script("net localgroup administrators corp\\a /add\nnet localgroup administrators corp\\a /delete"), ruleLeft, "administrator", false},
		"a group of others":                {script("Add-LocalGroupMember -Group 'Remote Desktop Users' -Member corp\\a"), ruleLeft, "administrator", false},
		"sysprep, and a restart before":    {steps(restart, last), "template.sysprep", "started again", false},
		"sysprep, and a restart after":     {steps(last, restart), "template.sysprep", "started again", true},
		"sysprep at the end":               {steps(restart, "}\nsource \"qemu\" \"b\" {\n  shutdown_command = \"sysprep.exe /generalize /oobe /shutdown\""), "template.sysprep", "started again", false},
		"another build's restart":          {map[string]string{"w.pkr.hcl": steps(last)["w.pkr.hcl"] + "build {\n  sources = [\"source.qemu.a\"]\n" + restart + "\n" + last + "\n}\n", "s.ps1": sysprep + "\n"}, "template.sysprep", "started again", false},
		"cloudbase-init's answer file":     {script(`& sysprep.exe /generalize /oobe /unattend:"C:\Program Files\Cloudbase Solutions\Cloudbase-Init\conf\Unattend.xml"`), "template.sysprep", "nothing brings", false},
		"one that is known by a name":      {map[string]string{"w.pkr.hcl": sourced("azure-arm", "") + provisioned(`script = "a.ps1"`), "a.ps1": "& sysprep.exe /generalize /oobe /unattend:$file\n"}, "template.sysprep", "nothing brings", false},
		"one that a script writes":         {script("Set-Content C:\\a.xml $xml\n& sysprep.exe /generalize /oobe /unattend:C:\\a.xml"), "template.sysprep", "nothing brings", false},
		"one that nobody writes":           {map[string]string{"w.pkr.hcl": sourced("azure-arm", "") + provisioned(`script = "a.ps1"`), "a.ps1": "& sysprep.exe /generalize /oobe /unattend:C:\\a.xml\n"}, "template.sysprep", "nothing brings", true},
		"updates before sysprep":           {steps("  provisioner \"windows-update\" {}", last), "template.sysprep", "runs after", false},
		"updates after sysprep":            {steps(last, "  provisioner \"windows-update\" {}"), "template.sysprep", "runs after", true},
		"a feature after sysprep":          {steps(last, "  provisioner \"powershell\" {\n    inline = [\"Install-WindowsFeature Containers\"]\n  }"), "template.sysprep", "runs after", true},
		"another's after sysprep":          {steps(last, "  provisioner \"powershell\" {\n    only   = [\"qemu.b\"]\n    inline = [\"Install-WindowsFeature Containers\"]\n  }"), "template.sysprep", "runs after", false},
		"a look after sysprep":             {steps(last, "  provisioner \"powershell\" {\n    inline = [\"Get-WindowsFeature Containers\"]\n  }"), "template.sysprep", "runs after", false},
		"a script again, before sysprep":   {again("a.ps1", "a.ps1", "s.ps1"), "template.sysprep", "runs after", false},
		"a script again, after sysprep":    {again("a.ps1", "s.ps1", "a.ps1"), "template.sysprep", "runs after", true},
		"down in a step, and again":        {map[string]string{"w.pkr.hcl": sourced("qemu", `shutdown_command = "shutdown /s"`) + provisioned(`inline = ["sysprep.exe /generalize /oobe /shutdown"]`)}, "template.sysprep", "/shutdown", true},
		"down in a step alone":             {map[string]string{"w.pkr.hcl": sourced("qemu", "") + provisioned(`inline = ["sysprep.exe /generalize /oobe /shutdown"]`)}, "template.sysprep", "/shutdown", false},
		"in another folder":                {given("C:/Windows/Temp/u.xml", ""), "template.sysprep", "nothing brings", true},
		"in its folder":                    {given("C:\\\\windows\\\\system32\\\\sysprep\\\\U.xml", ""), "template.sysprep", "nothing brings", false},
		"into its folder":                  {given("C:/Windows/System32/Sysprep/", ""), "template.sysprep", "nothing brings", false},
		"in another folder, copied":        {given("C:/Windows/Temp/u.xml", "Copy-Item C:\\Windows\\Temp\\u.xml C:\\Windows\\System32\\Sysprep\n"), "template.sysprep", "nothing brings", false},
		"copied from somewhere":            {given("C:/Windows/Temp/u.xml", "Copy-Item $from $to\n"), "template.sysprep", "nothing brings", false},
		"Linux' shutdown":                  {source("vsphere-iso", `shutdown_command = "sudo shutdown -P now"`), "template.reach", "shutdown_command", true},
		"Linux' shutdown, as root":         {source("hyperv-iso", `shutdown_command = "shutdown -P now"`), "template.reach", "shutdown_command", true},
		"a password for sudo":              {source("hyperv-iso", `shutdown_command = "echo 'a' | sudo -S poweroff"`), "template.reach", "shutdown_command", true},
		"words of a shutdown":              {source("hyperv-iso", `shutdown_command = "shutdown -s -t 0 -c \"shutting down now, sudo or not\""`), "template.reach", "shutdown_command", false},
		"VMware Tools disabled":            {tools("Set-Service VMTools -StartupType Disabled"), ruleStep, "vmtools is disabled", true},
		"VMware Tools disabled by sc":      {tools("sc.exe config VMTools start= disabled"), ruleStep, "vmtools is disabled", true},
		"VMware Tools taken away":          {tools("choco install vmware-tools -y --version 12.4.0\nchoco uninstall vmware-tools -y"), ruleStep, "taken away again", true},
		"VMware Tools taken away by name":  {tools("Get-Package 'VMware Tools' | Uninstall-Package -Force"), ruleStep, "taken away again", true},
		"VMware Tools, newer ones":         {tools("choco uninstall vmware-tools -y\nchoco install vmware-tools -y --version 12.4.0"), ruleStep, "taken away again", false},
		"in another folder, of a copy":     {given("C:/Windows/Temp/u.xml", "Copy-Item C:\\a.txt C:\\Windows\\System32\\Sysprep\\a.txt\n"), "template.sysprep", "nothing brings", true},
		"VMware Tools, on again":           {tools("Set-Service VMTools -StartupType Disabled\nSet-Service VMTools -StartupType Automatic"), ruleStep, "vmtools is disabled", false},
		"VMware Tools, just stopped":       {tools("Stop-Service VMTools"), ruleStep, "vmtools", false},
		"the containers' service":          {script("Install-WindowsFeature Containers\nSet-Service vmcompute -StartupType Disabled"), ruleStep, "vmcompute is disabled", true},
		"on demand, as Windows has it":     {script("Install-WindowsFeature Containers\nSet-Service vmcompute -StartupType Manual"), ruleStep, "vmcompute", false},
		"containerd disabled":              {script("Set-Service containerd -StartupType Disabled"), ruleStep, "containerd is disabled", true},
		"csi-proxy disabled":               {script("Set-Service csi-proxy -StartupType Disabled"), ruleStep, "csi-proxy is disabled", true},
		"csi-proxy disabled by sc":         {script("sc.exe config csi-proxy start= disabled"), ruleStep, "csi-proxy is disabled", true},
		"csi-proxy disabled in cmd":        {script("cmd /c \"sc config csi-proxy start=disabled\""), ruleStep, "csi-proxy is disabled", true},
		"csi-proxy by the pipeline":        {script("Get-Service -Name csi-proxy | Set-Service -StartupType Disabled"), ruleStep, "csi-proxy is disabled", true},
		"csi-proxy in a list":              {script("foreach ($s in 'tzautoupdate', 'csi-proxy') { Stop-Service $s; Set-Service -Name $s -StartupType Disabled }"), ruleStep, "csi-proxy is disabled", true},
		"csi-proxy by its number":          {script("Set-ItemProperty HKLM:\\SYSTEM\\CurrentControlSet\\Services\\csi-proxy -Name Start -Value 4"), ruleStep, "csi-proxy is disabled", true},
		"csi-proxy by reg":                 {script(`reg add "HKLM\SYSTEM\CurrentControlSet\Services\csi-proxy" /v Start /t REG_DWORD /d 4 /f`), ruleStep, "csi-proxy is disabled", true},
		"the kubelet disabled":             {generic("Set-Service kubelet -StartupType Disabled"), ruleStep, "kubelet is disabled", true},
		"csi-proxy, on again":              {script("Set-Service csi-proxy -StartupType Disabled\nsc.exe config csi-proxy start= delayed-auto"), ruleStep, "is disabled", false},
		"csi-proxy on demand":              {script("Set-Service csi-proxy -StartupType Manual"), ruleStep, "is disabled", false},
		"a list that isn't known":          {script("foreach ($s in Get-Content C:\\list) { Set-Service -Name $s -StartupType Disabled }\nGet-Service csi-proxy"), ruleStep, "is disabled", false},
		"another's number":                 {script("Set-ItemProperty HKLM:\\SYSTEM\\CurrentControlSet\\Services\\Spooler -Name Start -Value 4"), ruleStep, "is disabled", false},
		"another service disabled":         {script("Set-Service Spooler -StartupType Disabled"), ruleStep, "is disabled", false},
		"csi-proxy as a program":           {generic("sc.exe create csi-proxy binPath= 'C:\\k\\csi-proxy.exe -v=4' start= auto"), ruleStep, "windows-service", true},
		"csi-proxy that the operator sets": {script("sc.exe create csi-proxy binPath= 'C:\\k\\csi-proxy.exe -v=4' start= auto"), ruleStep, "windows-service", false},
		"csi-proxy as a service":           {generic("sc.exe create csi-proxy binPath= 'C:\\k\\csi-proxy.exe -windows-service -v=4' start= auto"), ruleStep, "windows-service", false},
		"csi-proxy by a wrapper":           {generic("sc.exe create csi-proxy binPath= 'C:\\k\\nssm.exe C:\\k\\csi-proxy.exe'"), ruleStep, "windows-service", false},
		"csi-proxy, from somewhere":        {generic("New-Service -Name csi-proxy -BinaryPathName $path"), ruleStep, "windows-service", false},
		"a key of AWS in the environment":  {script("$env:AWS_SECRET_ACCESS_KEY = 'wJalrXUtnFEMIaK7MDENGabPxRfiCYkq81mZtQ2x'"), "template.secret", "AWS_SECRET_ACCESS_KEY", true},
		"one that the build gives":         {script("$env:API_TOKEN = $env:GIVEN"), "template.secret", "", false},
		"one that is asked for":            {script("$env:API_TOKEN = (Get-Content C:\\token)"), "template.secret", "", false},
		"a path in the environment":        {script("$env:GOOGLE_APPLICATION_CREDENTIALS = 'C:\\k\\a.json'"), "template.secret", "", false},
		"none any more":                    {script("$env:API_TOKEN = ''"), "template.secret", "", false},
		"another variable":                 {script("$env:HTTP_PROXY = 'http://proxy:3128'"), "template.secret", "", false},
		"a product key":                    {keyed("BCDFG-HJKMP-QRTVW-XY234-6789B"), "template.secret", "a product key", true},
		"a key that everybody has":         {keyed("VDYBN-27WPP-V4HQT-9VMD4-VMK7H"), "template.secret", "", false},
		"a key that is filled in":          {keyed("${product_key}"), "template.secret", "", false},
		"up to a bucket":                   {script(`aws s3 cp C:\build.log s3://logs/build.log`), ruleDownload, "", false},
		"down from it":                     {script(`aws s3 cp s3://tools/a.msi C:\a.msi`), ruleDownload, "s3://", true},
		"down from it, with its sum":       {script("aws s3 cp s3://tools/a.msi C:\\a.msi\nif ((Get-FileHash C:\\a.msi).Hash -ne 'x') { throw 1 }"), ruleDownload, "", false},
		"onto a share":                     {script(`Copy-Item C:\build.log \\files\logs\build.log`), ruleDownload, "", false},
		"from a share":                     {script(`Copy-Item \\files\tools\a.exe C:\a.exe`), ruleDownload, `\\files`, true},
		"a URL that a program is given":    {script(`Start-Process agent.exe -ArgumentList '--server', 'https://example.com/'`), ruleDownload, "", false},
		"a token of documentation":         {script("# AKIAIOSFODNN7EXAMPLE"), "template.key", "", false},
		"a password that is known later":   {script("Register-ScheduledTask -TaskName a -Action $a -User b -Password $p"), "template.secret", "", false},
		"a user of curl":                   {script("curl.exe -u ${env:U}:$env:P -o a.zip http://169.254.169.254/a.zip"), "template.secret", "", false},
		"patience":                         {source("qemu", `ssh_timeout = "2h"`), "template.reach", "ssh_timeout", false},
		"none":                             {source("qemu", ""), "template.reach", "ssh_timeout", true},
		"too little":                       {source("hyperv-iso", `ssh_timeout = "6m"`), "template.reach", "ssh_timeout", true},
		"WinRM's":                          {source("qemu", `communicator = "winrm"`), "template.reach", "ssh_timeout", false},
		"of a disk":                        {source("qemu", "disk_image = true"), "template.reach", "ssh_timeout", false},
		"a card":                           {source("vsphere-iso", "network_adapters {\n    network = \"a\"\n  }"), "template.reach", "network_adapters", false},
		"one for each network":             {source("vsphere-iso", "dynamic \"network_adapters\" {\n    for_each = var.n\n    content {\n    }\n  }\n}\nvariable \"n\" {"), "template.reach", "network_adapters", false},
		"a disk of 40 GB":                  {source("qemu", `disk_size = "40G"`), ruleAnswer, "a disk of", false},
		"a disk of 20 GB":                  {source("qemu", `disk_size = "20G"`), ruleAnswer, "a disk of", true},
		"a small one of vSphere":           {source("vsphere-iso", "storage {\n    disk_size = 16384\n  }"), ruleAnswer, "a disk of", true},
		"an image for some":                {source("amazon-ebs", `ami_users = ["1"]`+"\nskip_create_ami = false"), ruleLeft, "", false},
		"a shutdown":                       {source("hyperv-iso", `shutdown_command = "shutdown /s"`), "template.reach", "shutdown_command", false},
		"EFI's secure boot":                {source("hyperv-iso", "generation = 2\nenable_secure_boot = true"), "template.firmware", "", false},
		"one that is given":                {source("hyperv-iso", "generation = 2\nenable_secure_boot = var.s\n}\nvariable \"s\" {"), "template.firmware", "", false},
	} {
		hit := false
		for _, f := range worse(t, c.files) {
			hit = hit || f.ID == c.id && strings.Contains(f.Observed, c.what)
		}
		if hit != c.found {
			t.Errorf("%s: found is %t, want %t", name, hit, c.found)
		}
	}
}

// TestFolderOfItsOwn: of several answer files of one name a machine has the one in the
// folder that is most like its own path, which something else makes.
func TestFolderOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	hcl := ""
	for _, name := range []string{"server", "server-uefi"} {
		hcl += "source \"vsphere-iso\" \"" + name + "\" {\n  cd_files = [\"tmp/" + name + "-vsphere/autounattend.xml\"]\n}\n"
		text := strings.Replace(setup(""), "<UserAccounts>", "<UserAccounts><LocalAccounts><LocalAccount><Name>of-"+name+"</Name></LocalAccount></LocalAccounts>", 1)
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "autounattend.xml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "w.pkr.hcl"), []byte(hcl), 0o600); err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, f := range check(t, dir, Options{}) {
		if f.ID == ruleLeft && f.Severity > finding.Info {
			have[f.Object] = f.Observed
		}
	}
	for _, name := range []string{"server", "server-uefi"} {
		if !strings.HasSuffix(have["of-"+name], ", for vsphere-iso."+name) {
			t.Errorf("%s: have %q", name, have)
		}
	}
}
