package podtext

import (
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

func TestPipePaths(t *testing.T) {
	for path, want := range map[string]string{
		`\\.\pipe\csi-proxy-disk-v1`:              "disk-v1",
		`\\\\.\\pipe\\csi-proxy-disk-v1beta2`:     "disk-v1beta2",
		`//./pipe/csi-proxy-system-v1alpha1`:      "system-v1alpha1",
		`\\.\PIPE\CSI-Proxy-Volume-V1`:            "volume-v1",
		`npipe:////./pipe/csi-proxy-smb-v1`:       "smb-v1",
		` \\.\pipe\csi-proxy-filesystem-v2alpha1`: "filesystem-v2alpha1", //nolint:gocritic // the blank is the case
		`\\.\pipe\containerd-containerd`:          "",
		`\\.\pipe\csi-proxy`:                      "",
		`\\.\pipe\csi-proxy-disk`:                 "",
		`C:\pipe\csi-proxy-disk-v1`:               "",
		``:                                        "",
	} {
		group, version, ok := ParsePipe(path)
		got := ""
		if ok {
			got = inventory.Pipe{Group: group, Version: version}.Name()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
