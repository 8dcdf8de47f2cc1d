package winenode

import (
	"encoding/json"
	"strings"
	"testing"
)

// names are the calls that were made, in order.
func names(all []done) string {
	var list []string
	for _, d := range all {
		list = append(list, d.Call)
	}
	return strings.Join(list, " ")
}

// phase is a run of the CSI driver's side.
type phase struct {
	stdin string
	args  string
	calls string // that were made, in order
	fails string // in the last one's error; none: it goes through
}

// checkPhases runs them one after another. Each has its volume at the same
// place, as a driver's have.
func checkPhases(t *testing.T, p proxy, phases []phase) {
	t.Helper()
	for _, ph := range phases {
		r := run(t, p.ssh, ph.stdin, client+" "+ph.args)
		all := parseDone(t, r)
		if got := names(all); got != ph.calls {
			t.Errorf("%s made the calls\n  %s, want\n  %s\n%s", ph.args, got, ph.calls, r.stderr)
		}
		if ph.fails == "" && r.code != 0 || ph.fails != "" && !strings.Contains(strings.ToLower(r.stderr), strings.ToLower(ph.fails)) {
			t.Errorf("%s: code %d, %q, want %q", ph.args, r.code, r.stderr, ph.fails)
		}
	}
}

const (
	atStaging = " -staging " + staging
	atTarget  = " -target " + target
)

// A disk is staged and unstaged through the PowerShell double. Publishing ends
// at the link: Wine says it has made one, and the driver's own question finds
// none. docs/windows-truth.md has that row.
func TestDiskVolume(t *testing.T) {
	t.Parallel()
	p := startProxy(t, CSIProxy11)
	p.Expect(t, diskAnswers()...)
	checkPhases(t, p, []phase{
		{"", "stage-disk -lun 0" + atStaging, "disk.Rescan disk.ListDiskLocations disk.GetDiskState disk.SetDiskState disk.PartitionDisk " +
			"volume.ListVolumesOnDisk volume.IsVolumeFormatted volume.FormatVolume filesystem.PathExists filesystem.Mkdir volume.MountVolume volume.GetVolumeStats", ""},
		{"", "publish" + atStaging + atTarget, "filesystem.PathExists filesystem.Mkdir filesystem.CreateSymlink filesystem.IsSymlink", "file not found"},
		{"", "unstage-disk" + atStaging, "volume.GetVolumeIDFromTargetPath volume.WriteVolumeCache volume.UnmountVolume filesystem.Rmdir", ""},
		{"", "stage-disk -lun 3" + atStaging, "disk.Rescan disk.ListDiskLocations", "no disk has LUN 3"},
	})
	for _, c := range p.Calls(t) {
		if !c.Expected {
			t.Errorf("PowerShell was called with %q, which nobody expected", c.Args)
		}
	}
}

// smbAnswers are a share's that isn't mapped yet. The user and the password
// must come as variables: in the script they would be on show, and run.
func smbAnswers(localPath string) []Answer {
	return []Answer{
		{Contains: []string{"Get-SmbGlobalMapping -RemotePath $Env:smbremotepath"}, Env: map[string]string{"smbremotepath": `\\server\share`},
			Stderr: "Get-SmbGlobalMapping : No MSFT_SmbGlobalMapping objects found\r\n", Exit: 1},
		{Contains: []string{"New-SmbGlobalMapping -RemotePath $Env:smbremotepath -Credential $Credential -RequirePrivacy $true"},
			Env: map[string]string{"smbremotepath": `\\server\share`, "smbuser": `AZURE\me`, "smbpassword": "p;w & $(x)"}},
		{Contains: []string{"New-Item -ItemType SymbolicLink $Env:smblocalPath -Target $Env:smbremotepath"},
			Env: map[string]string{"smblocalPath": localPath, "smbremotepath": `\\server\share\folder\`}},
		{Contains: []string{"Remove-SmbGlobalMapping -RemotePath $Env:smbremotepath -Force"}, Env: map[string]string{"smbremotepath": `\\server\share`}},
	}
}

func TestSMBVolume(t *testing.T) {
	t.Parallel()
	p := startProxy(t, CSIProxy11)
	const share = kubelet + `\plugins\smb\globalmount`
	p.Expect(t, smbAnswers(share)...)
	stage := `stage-smb -remote \\server\share\folder -user AZURE\me -staging ` + share
	checkPhases(t, p, []phase{
		{"wrong\n", stage, "filesystem.PathExists filesystem.Mkdir smb.NewSmbGlobalMapping", "was not told to expect"},
		{"p;w & $(x)\n", stage, "filesystem.PathExists smb.NewSmbGlobalMapping", ""},
		{"", "publish -staging " + share + atTarget, "filesystem.PathExists filesystem.Mkdir filesystem.CreateSymlink filesystem.IsSymlink", "file not found"},
	})
	for _, c := range p.Calls(t) {
		if strings.Contains(strings.Join(c.Args, " "), "p;w") {
			t.Errorf("the password is in the script %q", c.Args)
		}
	}
}

// ownership is what csiclient prints of who serves what.
type ownership struct{ Pipes, Services map[string]uint32 }

func (p proxy) owners(t *testing.T) ownership {
	t.Helper()
	r := run(t, p.ssh, "", client+" owners")
	var o ownership
	if err := json.Unmarshal([]byte(r.stdout), &o); err != nil || r.code != 0 || len(o.Pipes) != 4 {
		t.Fatalf("owners: %+v", r)
	}
	return o
}

// Upstream's service name is csiproxy, OpenShift's csi-proxy. Beside each other
// they serve the same pipes in Wine; on Windows the later one panics, which the
// Windows pipeline shows. Who asks the pipe's process sees whose it is.
func TestSecondOwner(t *testing.T) {
	t.Parallel()
	p := startProxy(t, CSIProxy11)
	alone := p.owners(t)
	for pipe, pid := range alone.Pipes {
		if pid == 0 || pid != alone.Services["csi-proxy"] || alone.Services["csiproxy"] != 0 {
			t.Errorf("alone: %s is served by %d, the services are %v", pipe, pid, alone.Services)
		}
	}
	p.must(t, `sc.exe create csiproxy binPath= "`+strings.ReplaceAll(proxyCommand, `csi-proxy.log`, `csiproxy.log`)+`"`)
	p.must(t, `sc.exe start csiproxy`)
	if both := p.owners(t); both.Services["csiproxy"] == 0 || both.Services["csi-proxy"] != alone.Services["csi-proxy"] {
		t.Fatalf("the second service doesn't run: %v", both.Services)
	}
	for _, running := range p.running(t) {
		if !strings.Contains(running.Command, "csiproxy.log") {
			if err := p.Kill(running); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.waitForPipes(t)
	after := p.owners(t)
	for pipe, pid := range after.Pipes {
		if pid != after.Services["csiproxy"] || pid == alone.Services["csi-proxy"] {
			t.Errorf("%s is served by %d, the second service is %d", pipe, pid, after.Services["csiproxy"])
		}
	}
}
