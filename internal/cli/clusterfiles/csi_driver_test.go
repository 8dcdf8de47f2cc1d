package clusterfiles

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
)

// TestCSIDriverBadInput: whatever is wrong is one error that names a choice, exit
// code 1, nothing on stdout, and no folder, nor anything beside it.
func TestCSIDriverBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const windows = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: NAME, namespace: kube-system}
spec:
  template:
    spec:
      nodeSelector: {kubernetes.io/os: windows}
      containers: [{name: registrar, args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\smb.csi.k8s.io\csi.sock']}]
`
	two := file("two.yaml", windows+"---\n"+strings.ReplaceAll(windows, "NAME", "OTHER"))
	claim := file("claim.yaml", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\n")
	linux := file("linux.yaml", strings.ReplaceAll(windows, "windows", "linux"))
	torn := file("torn.yaml", "a: [b\n")
	flat := file("flat.txt", "mirror.example.com/driver:v3.5.0 sha256:"+strings.Repeat("1", 64)+"\n")
	short := file("short.txt", "registry.k8s.io/csi-vsphere/driver:v3.5.0 sha256:"+strings.Repeat("1", 64)+"\n")
	for name, tc := range map[string]struct{ args, what, choice string }{
		"no driver":                     {"--for 4.18", "no driver to write", "vsphere, azure-disk"},
		"an unknown driver":             {"efs --for 4.18", `no driver "efs"`, "vsphere, azure-disk, azure-file, aws-ebs, gcp-pd, smb"},
		"two drivers":                   {"smb vsphere --for 4.18", "takes no argument \"vsphere\"", "--help"},
		"no release":                    {"vsphere", "no release to write for", "--for 4.20"},
		"no such release":               {"vsphere --for 4.99", "doesn't know OpenShift 4.99", "4.8 to 5.0"},
		"a release that is no release":  {"vsphere --for latest", "--for: ", "--for 4.20"},
		"a release without that driver": {"smb --for 4.14", "ships no SMB CSI driver", "4.16"},
		"a release of which the version isn't known": {"smb --for 5.0", "isn't known", "--for 4.22"},
		"a release before Windows":                   {"vsphere --for 4.13", "serves no Windows nodes", "--for 4.14"},
		"patches that differ":                        {"azure-file --for 4.14", "patches of OpenShift 4.14 have different drivers", "--for 4.14.26"},
		"pipes where the line has none":              {"vsphere --for 4.20 --mode pipes", "no client of csi-proxy", "--mode hostprocess"},
		"hostprocess where the line has none":        {"gcp-pd --for 4.20 --mode hostprocess", "can't run as a HostProcess container", "--mode pipes"},
		"no such mode":                               {"gcp-pd --for 4.20 --mode magic", `--mode can't be "magic"`, "auto, pipes, hostprocess"},
		"no image for the nodes":                     {"gcp-pd --for 4.19", "has no image for Windows Server 2022", "--windows 2019"},
		"no such Windows":                            {"vsphere --for 4.20 --windows 2016", `--windows can't be "2016"`, "2022, 2019, 2025"},
		"a namespace that can't be":                  {"vsphere --for 4.20 --namespace My_CSI", "can't be the driver's namespace", "--namespace"},
		"the cluster's own namespace":                {"vsphere --for 4.20 --namespace kube-system", "is the cluster's own", "--namespace"},
		"a mirror that cuts the path":                {"vsphere --for 4.20 --registry mirror.example.com/driver", "not a mirror that keeps the path", "--registry HOST/FOLDER"},
		"a mirror's digests with a cut path":         {"vsphere --for 4.20 --registry mirror.example.com --digest-file " + flat, "doesn't keep the path of its source", "mirror the image to that place"},
		"a mirror with credentials":                  {"vsphere --for 4.20 --registry user:secret@mirror.example.com/ocp", `"***@mirror.example.com/ocp" can't be a mirror`, "credentials"},
		"a mirror with a scheme":                     {"vsphere --for 4.20 --registry https://mirror", "can't be a mirror", "without a scheme"},
		"digests that lack images":                   {"vsphere --for 4.20 --digest-file " + short, "no digest of", "skopeo inspect"},
		"digests that are none":                      {"vsphere --for 4.20 --digest-file " + torn, "isn't an image with its tag", "sha256"},
		"no digests there":                           {"vsphere --for 4.20 --digest-file nowhere.txt", "can't read the digests", "give a file"},
		"an old one that holds two":                  {"--upgrade-from " + two + " --for 4.20", "several Windows DaemonSets in it: NAME (smb), OTHER (smb)", "one of them"},
		"an old one that is a claim":                 {"--upgrade-from " + claim + " --for 4.20", "no Windows DaemonSet of a driver in it", "oc get daemonset"},
		"an old one for Linux":                       {"--upgrade-from " + linux + " --for 4.20", "no Windows DaemonSet of a driver in it, among 1", "oc get daemonset"},
		"an old one that is torn":                    {"--upgrade-from " + torn + " --for 4.20", "can't be read as YAML", "oc get daemonset"},
		"no old one there":                           {"--upgrade-from nowhere.yaml --for 4.20", "can't read the old DaemonSet", "oc get daemonset"},
		"an old one of another driver":               {"vsphere --upgrade-from " + two + " --for 4.20", "several", "one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			code, stdout, stderr := bakeInProcess(t, append(strings.Fields("manifests csi-driver "+tc.args), "--out", filepath.Join(parent, "out"))...)
			if code != 1 || stdout != "" {
				t.Errorf("exit %d, stdout %q", code, stdout)
			}
			if !strings.Contains(stderr, tc.what) || !strings.Contains(stderr, tc.choice) || strings.Count(stderr, "error: ") > 1 {
				t.Errorf("want one error with %q and the choice %q:\n%s", tc.what, tc.choice, stderr)
			}
			if left := names(t, parent); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func bakeInProcess(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("NO_COLOR", "1")
	var out, err bytes.Buffer
	a := &app.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err}
	root, manifests := &cobra.Command{Use: "bake"}, &cobra.Command{Use: "manifests"}
	manifests.AddCommand(NewCSIDriver(a), NewPrecheck(a))
	root.AddCommand(manifests)
	return a.Run(t.Context(), root, args), out.String(), err.String()
}

// TestCSIDriverArgs: the command that options name gives the same options.
func TestCSIDriverArgs(t *testing.T) {
	t.Chdir(t.TempDir())
	const digest = "registry.k8s.io/csi-vsphere/driver:v3.5.0 sha256:1111111111111111111111111111111111111111111111111111111111111111\n"
	for name, text := range map[string]string{"of mine.txt": digest, "a 'b'.yaml": "apiVersion: winbake.dev/catalog/v1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	digests, err := csidriver.ParseDigests("of mine.txt", []byte(digest))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []csidriver.Options{
		{Driver: "smb", For: mustRelease(t, "4.20")},
		{Driver: "azure-file", For: mustRelease(t, "4.14.26"), Mode: csidriver.Pipes},
		{Driver: "vsphere", For: mustRelease(t, "4.20"), Windows: "2025", Namespace: "own"},
		{Driver: "vsphere", For: mustRelease(t, "4.20"), Mode: csidriver.HostProcess, Registry: "mirror.corp:5000/ocp", Digests: digests},
		{Old: &csidriver.Old{Driver: "vsphere"}, For: mustRelease(t, "4.20"), Mode: csidriver.HostProcess},
	} {
		for _, catalogs := range [][]string{nil, {"a 'b'.yaml", "rows"}} {
			var got csiDriverOptions
			cmd := &cobra.Command{Use: "csi-driver"}
			got.register(cmd)
			args := want.Args("old.yaml", catalogs)
			if err := cmd.ParseFlags(args); err != nil {
				t.Fatalf("%q: %v", args, err)
			}
			got.given = cmd.Flags().Changed
			got.out = "out"
			got.Driver = strings.Join(cmd.Flags().Args(), "")
			if want.Old != nil { // of the file
				got.Driver = "vsphere"
			}
			err := got.check()
			options := got.Options
			if want.Old != nil {
				options.Driver, options.Old = "", want.Old
			}
			want.Mode, want.Windows = cmp.Or(want.Mode, csidriver.Auto), cmp.Or(want.Windows, "2022")
			want.Namespace = cmp.Or(want.Namespace, csidriver.OperatorNamespace)
			if err != nil || !reflect.DeepEqual(options, want) || !slices.Equal(got.catalog.Paths, catalogs) || (got.upgradeFrom == "old.yaml") != (want.Old != nil) {
				t.Errorf("%q:\n%+v, %v, want\n%+v", args, options, err, want)
			}
		}
	}
}

func mustRelease(t *testing.T, s string) version.OpenShift {
	t.Helper()
	v, err := version.ParseOpenShift(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
