package winenode

import (
	"strings"
	"testing"
)

// What a real Windows node answers PowerShell, as csi-proxy v1.1.3 writes it
// down in its own sources: the disk's location in pkg/os/disk/api.go
// (ListDiskLocations), the volume's ID in pkg/os/volume/api.go (VolumeRegexp),
// sizes in integrationtests/volume_v1_test.go.
const (
	volumeID   = `\\?\Volume{452e318a-5cde-421e-9831-b9853c521012}\`
	staging    = kubelet + `\plugins\kubernetes.io\csi\disk\globalmount`
	target     = kubelet + `\pods\1\volumes\kubernetes.io~csi\pvc\mount`
	location   = "[\r\n    {\r\n        \"Number\":  0,\r\n        \"Location\":  \"PCI Slot 3 : Adapter 0 : Port 0 : Target 1 : LUN 0\"\r\n    }\r\n]\r\n"
	volumeSize = "{\r\n    \"SizeRemaining\":  1000000000,\r\n    \"Size\":  1056947712\r\n}\r\n"
)

// onVolume is an answer to a call about the volume, whose ID csi-proxy hands
// over in a variable.
func onVolume(contains, stdout string) Answer {
	return Answer{Contains: []string{"-Mta -NoProfile -Command", contains}, Env: map[string]string{"volumeID": volumeID}, Stdout: stdout}
}

func onDisk(contains, stdout string) Answer {
	return Answer{Contains: []string{"-Mta -NoProfile -Command", contains}, Stdout: stdout}
}

// diskAnswers are those of a new disk of one gigabyte: raw, offline, without a
// partition. The double keeps no state, so it stays new.
func diskAnswers() []Answer {
	mount := onVolume("| Add-PartitionAccessPath -AccessPath $Env:mountpath", "")
	mount.Env["mountpath"] = staging
	unmount := onVolume("| Remove-PartitionAccessPath -AccessPath $Env:mountpath", "")
	unmount.Env["mountpath"] = staging
	return []Answer{
		onDisk("ConvertTo-Json @(Get-Disk | select Number, Location)", location),
		onDisk("Update-HostStorageCache", ""),
		onDisk("(Get-Disk -Number 0) | Select-Object -ExpandProperty IsOffline", "True\r\n"),
		onDisk("(Get-Disk -Number 0) | Set-Disk -IsOffline $false", ""),
		onDisk("(Get-Disk -Number 0).Size", "1073741824\r\n"),
		onDisk("Get-Disk -Number 0 | Where partitionstyle -eq 'raw'", "Number Friendly Name\r\n------ -------------\r\n0      Msft Virtual Disk\r\n"),
		onDisk("Initialize-Disk -Number 0 -PartitionStyle GPT", ""),
		onDisk("Get-Partition | Where DiskNumber -eq 0 | Where Type -ne Reserved", ""),
		onDisk("New-Partition -DiskNumber 0 -UseMaximumSize", "PartitionNumber  DriveLetter Offset\r\n"),
		onDisk("(Get-Disk -Number 0 | Get-Partition | Get-Volume).UniqueId", volumeID+"\r\n"),
		onVolume(".FileSystemType", "Unknown\r\n"),
		onVolume("| Format-Volume -FileSystem ntfs -Confirm:$false", "DriveLetter FriendlyName FileSystemType\r\n"),
		mount, unmount,
		onVolume("| Select SizeRemaining,Size) | ConvertTo-Json", volumeSize),
		onVolume("| Get-Partition).DiskNumber", "0\r\n"),
		onVolume("| Write-Volumecache", ""),
		onVolume("| Get-partition).Size", "1056947712\r\n"),
		onVolume("| Resize-Partition -Size 1585421568", ""),
		{Contains: []string{"(Get-Item -Path $Env:mountpath).Target"}, Env: map[string]string{"mountpath": staging}, Stdout: strings.TrimPrefix(volumeID, `\\?\`) + "\r\n"},
	}
}

func volumeRequest(more ...string) map[string]any {
	request := map[string]any{"volumeId": volumeID}
	for i := 0; i < len(more); i += 2 {
		request[more[i]] = more[i+1]
	}
	return request
}

// windowsDiskCalls are the disk and volume calls of v1, as a node with that
// disk answers them. ListDiskIDs isn't among them: it opens the disk itself.
var windowsDiskCalls = []want{
	{"disk", "ListDiskLocations", nil, `{"diskLocations":{"0":{"Adapter":"0","Target":"1","LUNID":"0"}}}`, ""},
	{"disk", "Rescan", nil, `{}`, ""},
	{"disk", "GetDiskState", nil, `{}`, ""}, // offline
	{"disk", "SetDiskState", map[string]any{"isOnline": true}, `{}`, ""},
	{"disk", "GetDiskStats", nil, `{"totalBytes":"1073741824"}`, ""},
	{"disk", "PartitionDisk", nil, `{}`, ""},
	{"volume", "ListVolumesOnDisk", nil, `{"volumeIds":["\\\\?\\Volume{452e318a-5cde-421e-9831-b9853c521012}\\"]}`, ""},
	{"volume", "IsVolumeFormatted", volumeRequest(), `{}`, ""},
	{"volume", "FormatVolume", volumeRequest(), `{}`, ""},
	{"volume", "MountVolume", volumeRequest("targetPath", staging), `{}`, ""},
	{"volume", "GetVolumeStats", volumeRequest(), `{"totalBytes":"1056947712","usedBytes":"56947712"}`, ""},
	{"volume", "GetDiskNumberFromVolumeID", volumeRequest(), `{}`, ""}, // 0
	{"volume", "GetVolumeIDFromTargetPath", map[string]any{"targetPath": staging}, `{"volumeId":"\\\\?\\Volume{452e318a-5cde-421e-9831-b9853c521012}\\"}`, ""},
	{"volume", "ResizeVolume", volumeRequest("sizeBytes", "1585421568"), `{}`, ""},
	{"volume", "WriteVolumeCache", volumeRequest(), `{}`, ""},
	{"volume", "UnmountVolume", volumeRequest("targetPath", staging), `{}`, ""},
	// What the node wasn't told to expect is an error, never an answer.
	{"disk", "GetDiskStats", map[string]any{"diskNumber": 7}, "", "was not told to expect"},
	{"volume", "FormatVolume", map[string]any{"volumeId": `\\?\Volume{other}\`}, "", "was not told to expect"},
	{"smb", "NewSmbGlobalMapping", map[string]any{"remotePath": `\\server\share`}, "", "was not told to expect"},
	{"smb", "RemoveSmbGlobalMapping", map[string]any{"remotePath": `\\server\share`}, "", "was not told to expect"},
}

func TestDiskCallsThroughPowerShell(t *testing.T) {
	t.Parallel()
	p := startProxy(t, CSIProxy11)
	p.Expect(t, diskAnswers()...)
	p.check(t, windowsDiskCalls)
	unexpected := 0
	for _, c := range p.Calls(t) {
		if !c.Expected {
			unexpected++
		}
	}
	// The new mapping is asked for before it's made, so it takes two.
	if unexpected != 5 {
		t.Errorf("%d calls weren't expected, want 5: %+v", unexpected, p.Calls(t))
	}
}

// v1.3.0 asks WMI, of which Wine has no storage classes. It must not say that
// it did what it couldn't.
func TestDiskCallsWithoutWMI(t *testing.T) {
	t.Parallel()
	p := startProxy(t, CSIProxy13)
	var asked []want
	for _, w := range windowsDiskCalls {
		asked = append(asked, want{group: w.group, method: w.method, request: w.request})
	}
	asked = append(asked, want{group: "disk", method: "ListDiskIDs"})
	for _, d := range p.calls(t, asked) {
		if d.Error == "" && !emptyLists[d.Call] {
			t.Errorf("%s says that it did it: %s", d.Call, d.compact)
		}
		if d.Error == "" && d.compact != `{}` {
			t.Errorf("%s has found %s", d.Call, d.compact)
		}
	}
	if made := p.Calls(t); len(made) > 0 {
		t.Errorf("it has started PowerShell: %+v", made)
	}
}

// emptyLists are the questions that no disk at all is an answer to.
var emptyLists = map[string]bool{"disk.ListDiskLocations": true, "disk.ListDiskIDs": true, "volume.ListVolumesOnDisk": true}
