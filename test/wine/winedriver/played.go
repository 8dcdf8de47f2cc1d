package winedriver

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/winbake/winbake/test/wine/winenode"
)

// playMetadata plays the metadata services of Google and AWS, which GCE PD and AWS EBS
// ask at their start:
// https://cloud.google.com/compute/docs/metadata/predefined-metadata-keys,
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-metadata.html.
func playMetadata() (address string, stop func(), err error) {
	values := map[string]string{
		"computeMetadata/v1/instance/zone": "projects/1/zones/us-central1-a", "computeMetadata/v1/project/project-id": "p",
		"computeMetadata/v1/instance/name": NodeName, "computeMetadata/v1/instance/machine-type": "projects/1/machineTypes/n1-standard-1",
		"latest/api/token":                          "t",
		"latest/dynamic/instance-identity/document": `{"instanceId": "i-0123456789abcdef0", "instanceType": "m5.large", "region": "r1", "availabilityZone": "r1-a"}`,
		"latest/meta-data/instance-id":              "i-0123456789abcdef0", "latest/meta-data/network/interfaces/macs": "02:00:00:00:00:01/",
		"latest/meta-data/block-device-mapping": "ami",
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Metadata-Flavor", "Google")
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
		value, ok := values[strings.Trim(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(value)) // a client that has gone doesn't matter
	}))
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	return l.Addr().String(), s.Close, nil
}

// powerShell is what PowerShell is played to answer: a share that isn't mapped, and a
// new disk of one gigabyte, number 0. The answers are those that test/wine/winenode has from
// csi-proxy's own sources and tests. The double keeps no state: the disk stays new.
func (k kind) powerShell() []winenode.Answer {
	const volume = `\\?\Volume{452e318a-5cde-421e-9831-b9853c521012}\`
	all := []winenode.Answer{{Contains: []string{"Get-SmbGlobalMapping -RemotePath"}, Stderr: "No MSFT_SmbGlobalMapping objects found\r\n", Exit: 1}}
	for _, a := range [][2]string{
		{"New-SmbGlobalMapping -RemotePath", ""},
		{"Remove-SmbGlobalMapping -RemotePath", ""},
		{"New-Item -ItemType SymbolicLink", ""},
		{"Get-Disk | select Number, Location", `[{"Number": 0, "Location": "PCI Slot 3 : Adapter 0 : Port 0 : Target 1 : LUN 0"}]`},
		{"Update-HostStorageCache", ""},
		{"IsOffline", "True\r\n"},
		{"Set-Disk -IsOffline", ""},
		{"(Get-Disk -Number 0).Size", "1073741824\r\n"},
		{"Where partitionstyle -eq 'raw'", "0      Msft Virtual Disk\r\n"},
		{"Initialize-Disk -Number 0 -PartitionStyle GPT", ""},
		{"Get-Partition | Where DiskNumber -eq 0", ""},
		{"New-Partition -DiskNumber 0", "1\r\n"},
		{".UniqueId", volume + "\r\n"},
		{".FileSystemType", "Unknown\r\n"},
		{"Format-Volume", ""},
		{"Add-PartitionAccessPath", ""},
		{"Remove-PartitionAccessPath", ""},
		{"SizeRemaining,Size", `{"SizeRemaining": 1000000000, "Size": 1056947712}`},
		{"Get-PartitionSupportedSize", `{"SizeMax": 1056947712}`},
		{"Get-Partition).DiskNumber", "0\r\n"},
		{"Write-Volumecache", ""},
		{"Get-partition).Size", "1056947712\r\n"},
		{"(Get-Item -Path $Env:mountpath).Target", strings.TrimPrefix(volume, `\\?\`) + "\r\n"},
		{"Get-Disk | Select Path, SerialNumber", `[{"Path": "\\\\?\\scsi#disk", "SerialNumber": "vol0123456789abcdef0_00000001."}]`},
		{"Get-CimInstance win32_diskdrive", `[{"Index": 0, "SCSILogicalUnit": 0, "SCSITargetId": 0, "SCSIPort": 1, "SCSIBus": 0}]`},
		{"Initialize-Disk -Number 0 -PartitionStyle MBR", ""},
		{"Get-Disk | select number, location", `[{"number": 0, "location": "PCI Slot 3 : Adapter 0 : Port 0 : Target 1 : LUN 0"}]`},
		{"(get-disk | select Path)", `{"Path": "\\\\?\\scsi#disk"}`},
		{"bios get serialnumber", "SerialNumber\r\nVMware-42 00 00 00 00 00 00 00-00 00 00 00 00 00 00 01\r\n"},
	} {
		all = append(all, winenode.Answer{Contains: []string{a[0]}, Stdout: a[1]})
	}
	return all
}
