package winedriver

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/wine/winenode"
)

// csiSanity is the program of csi-test's suite. It's no dependency of this module.
const csiSanity = "github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity@v5.4.0"

// listening starts a case's driver, and returns its address once it answers.
func listening(t testing.TB, n *winenode.Node, c Case) (d *Running, address string) {
	t.Helper()
	d, proxy, address, err := begin(t.Context(), n, c)
	if proxy != nil {
		t.Cleanup(func() { _ = proxy.Close() }) // the node ends it too
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	client, err := d.Client(address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Call(t.Context(), "/csi.v1.Identity/Probe", nil); err != nil {
		t.Fatal(err)
	}
	return d, address
}

// Sanity runs csi-test's suite, or the tests that focus fits, against a driver. At least
// so many pass, and those fail that are known to, by the end of their names, each with
// its cause.
func Sanity(t testing.TB, n *winenode.Node, c Case, focus string, atLeast int, known map[string]string) {
	t.Helper()
	d, address := listening(t, n, c)
	passed, failed := runSanity(t, address, focus)
	if passed < atLeast {
		t.Errorf("only %d tests passed", passed)
	}
	for name := range known {
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
	t.Logf("%d passed, %d failed as known", passed, len(known))
}

// runSanity returns how many tests passed, and the messages of those that failed by
// name.
func runSanity(t testing.TB, address, focus string) (passed int, failed map[string]string) {
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
		"--ginkgo.focus="+focus, "--ginkgo.junit-report="+report,
		// On a busy machine a call may take longer than the suite waits.
		"--ginkgo.flake-attempts=3")
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
