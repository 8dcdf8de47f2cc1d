//go:build drivers

package winedriver

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// csiSanity is the program of csi-test's suite. It's no dependency of this module.
const csiSanity = "github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity@v5.4.0"

const (
	noRemoval  = "os.RemoveAll fails in Wine"
	noLink     = "Wine makes no link, so that the target isn't there"
	driversOwn = "the driver's own: its project skips this test"
)

// sanityFails are the tests of the suite that fail for SMB in Wine, and why.
// docs/drivers.md lists them.
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
	_, d, address := startSMB(t)
	passed, failed := runSanity(t, address)
	if passed < 20 {
		t.Errorf("only %d tests passed", passed)
	}
	for name := range sanityFails {
		found := false
		for full := range failed {
			if strings.HasSuffix(full, name) {
				found = true
				delete(failed, full)
			}
		}
		if !found {
			t.Errorf("%s doesn't fail any more", name)
		}
	}
	for name, why := range failed {
		t.Errorf("%s failed: %s\n%s", name, why, d.Log())
	}
}

// runSanity returns how many tests passed, and the messages of those that failed by
// name.
func runSanity(t *testing.T, address string) (passed int, failed map[string]string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	var secrets strings.Builder
	for _, of := range []string{"CreateVolume", "DeleteVolume", "ControllerValidateVolumeCapabilities", "ControllerExpandVolume", "NodeStageVolume", "NodePublishVolume"} {
		secrets.WriteString(of + "Secret: {username: me, password: p}\n")
	}
	// The folders are the node's, so the suite can't make or look at them.
	folder := write("folder", "#!/bin/sh\nprintf '%s' '"+`C:\var\lib\kubelet\sanity\`+"'$(basename \"$1\")\n")
	nothing := write("nothing", "#!/bin/sh\n")
	report := filepath.Join(dir, "report.xml")
	cmd := exec.CommandContext(t.Context(), "go", "run", csiSanity, "--csi.endpoint=dns:///"+address,
		"--csi.mountdir=target", "--csi.createmountpathcmd="+folder, "--csi.removemountpathcmd="+nothing,
		"--csi.stagingdir=staging", "--csi.createstagingpathcmd="+folder, "--csi.removestagingpathcmd="+nothing,
		"--csi.checkpathcmd="+write("look", "#!/bin/sh\necho not_found\n"),
		"--csi.testvolumeparameters="+write("parameters.yaml", "source: //server/share\n"), "--csi.secrets="+write("secrets.yaml", secrets.String()),
		"--ginkgo.junit-report="+report)
	out, ran := cmd.CombinedOutput()
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatalf("%v: %v\n%s", err, ran, out)
	}
	var suites struct {
		Cases []struct {
			Name    string `xml:"name,attr"`
			Status  string `xml:"status,attr"`
			Failure struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(data, &suites); err != nil {
		t.Fatal(err)
	}
	failed = map[string]string{}
	for _, c := range suites.Cases {
		switch c.Status {
		case "passed":
			passed++
		case "failed":
			failed[strings.TrimPrefix(c.Name, "[It] ")] = c.Failure.Message
		}
	}
	return passed, failed
}
