//go:build drivers

package winedriver

import (
	"path/filepath"
	"testing"

	"github.com/winbake/winbake/test/wine/winenode"
)

const (
	noRemoval  = "os.RemoveAll fails in Wine"
	noLink     = "Wine makes no link, so that the target isn't there"
	driversOwn = "the driver's own: its project skips this test"
)

// sanityFails are the tests of the suite that fail for SMB in Wine, and why.
// docs/csi-drivers.md lists them.
var sanityFails = map[string]string{
	"CreateVolume should return appropriate values SingleNodeWriter NoCapacity":                                    noRemoval,
	"CreateVolume should return appropriate values SingleNodeWriter WithCapacity 1Gi":                              noRemoval,
	"CreateVolume should not fail when requesting to create a volume with already existing name and same capacity": noRemoval,
	"CreateVolume should not fail when creating volume with maximum-length name":                                   noRemoval,
	"CreateVolume should create volume from an existing source volume":                                             noRemoval,
	"DeleteVolume should return appropriate values (no optional values added)":                                     noRemoval,
	"ValidateVolumeCapabilities should fail when no volume capabilities are provided":                              noRemoval,
	"ValidateVolumeCapabilities should return appropriate values (no optional values added)":                       noRemoval,
	"ExpandVolume [Controller Server] should work":                                                                 noRemoval,
	"NodeStageVolume should fail when no volume capability is provided":                                            noRemoval,
	"NodeGetVolumeStats should fail when volume does not exist on the specified path":                              noRemoval,
	"NodeUnpublishVolume should remove target path":                                                                noLink,
	"Node Service should work":          noLink,
	"Node Service should be idempotent": noLink,
	"ValidateVolumeCapabilities should fail when the requested volume does not exist": driversOwn,
}

// TestSanity runs csi-test's suite against SMB in a HostProcess container's mode.
func TestSanity(t *testing.T) {
	n := winenode.Start(t, winenode.Options{})
	Sanity(t, n, Case{Driver: "smb", Exe: filepath.Join(given(t), "4.22-smb.exe"), HostProcess: true}, "", 20, sanityFails)
}
