package skew

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
	"github.com/winbake/winbake/internal/cli/verify"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
)

// TestPlansNameWhatBakeWrites plans the next update of every driver on every
// release, in both modes, on two Windows versions, under the names of OpenShift and of
// the projects, with the embedded catalog and with one that raises the version. Each
// bake command of a plan is run: it may not refuse, the version that it writes is the
// one that the step names, and so are the files.
func TestPlansNameWhatBakeWrites(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for i := range known.Releases[:len(known.Releases)-1] {
		from, to := known.Releases[i].OpenShift, known.Releases[i+1].OpenShift
		for _, driver := range csidriver.Drivers() {
			for _, mode := range []csidriver.Mode{csidriver.Pipes, csidriver.HostProcess} {
				for _, windows := range []string{"2022", "2025"} {
					o := csidriver.Options{Driver: driver, Mode: mode, Windows: windows}
					if o.For, err = version.ParseOpenShift(from); err != nil {
						t.Fatal(err)
					}
					if folder, err := csidriver.Render(known, o); err == nil {
						t.Run(fmt.Sprintf("%s from %s, %s on %s", driver, from, mode, windows), func(t *testing.T) {
							ran += followPlans(t, known, folder, o, to)
						})
					}
				}
			}
		}
	}
	if ran < 8 { // each replacement is one step, with one command of bake
		t.Errorf("only %d commands were run", ran)
	}
}

// followPlans plans a folder's update in four ways, and returns how many commands of
// bake the plans had.
func followPlans(t *testing.T, known *catalog.Catalog, folder *csidriver.Folder, o csidriver.Options, to string) (ran int) {
	t.Helper()
	t.Chdir(t.TempDir())
	rows := raised(t, known, o.Driver, to)
	for _, place := range [][2]string{{"", ""}, {"kube-system", "csi-node-win"}} {
		name := save(t, folder, place[0], place[1], o.Windows, known.Driver(o.Driver).Provisioner)
		for _, extra := range [][]string{nil, rows} {
			args := slices.Concat([]string{"skew", "plan", "--from", o.For.String(), "--to", to, "--manifests", "in"}, extra)
			plan := succeeds(t, verify.New, args)
			ran += follow(t, plan, name)
			setsAsBake(t, plan, name, to, slices.Concat([]string{"manifests", "csi-driver", "--upgrade-from", "in/driver.yaml", "--mode", string(o.Mode)}, extra))
		}
	}
	return ran
}

var (
	step    = regexp.MustCompile(`(?m)^- \[ \] `)
	named   = regexp.MustCompile(` v(\d+\.\d+\.\d+)`)
	used    = regexp.MustCompile(`oc (?:apply|replace) -f (\S+)`)
	written = regexp.MustCompile(`(?m)^# The Windows node part of the .* v(\S+), the$`)
)

// follow runs the bake commands of a plan.
func follow(t *testing.T, plan, name string) (ran int) {
	t.Helper()
	for _, text := range step.Split(plan, -1)[1:] {
		title, _, _ := strings.Cut(text, "\n")
		for _, command := range bakeCommand.FindAllString(text, -1) {
			ran++
			args := strings.Fields(command)[1:]
			at := slices.Index(args, "--out") + 1
			if at == 0 || at == len(args) {
				t.Errorf("%s writes nothing", command)
				continue
			}
			if old := slices.Index(args, "--upgrade-from") + 1; old > 0 {
				args[old] = filepath.Join("in", "driver.yaml")
			}
			told := args[at]
			args[at] = filepath.Join(t.TempDir(), "out")
			succeeds(t, bake.New, args)
			for _, use := range used.FindAllStringSubmatch(text, -1) {
				if inside, ok := strings.CutPrefix(use[1], told+"/"); ok {
					read(t, filepath.Join(args[at], inside))
				}
			}
			file := read(t, filepath.Join(args[at], csidriver.DaemonSetFile))
			want, is := named.FindStringSubmatch(title), written.FindStringSubmatch(file)
			if want == nil || is == nil || want[1] != is[1] {
				t.Errorf("the step says %q, and\n%s\nwrites %q", title, command, is)
			}
			if strings.Contains(command, "--upgrade-from") && !strings.Contains(file, "\n  name: "+name+"\n") {
				t.Errorf("%s moves %s elsewhere", command, name)
			}
		}
	}
	return ran
}

var setImages = regexp.MustCompile(`set image daemonset/(\S+) (.*)`)

// setsAsBake compares what a plan's `oc set image` makes of a DaemonSet with what bake
// makes of it for the same release, field by field.
func setsAsBake(t *testing.T, plan, name, to string, args []string) {
	t.Helper()
	set := setImages.FindStringSubmatch(plan)
	if set == nil || set[1] != name {
		return // nothing to do, or bake's own object
	}
	is := parsed(t, read(t, "in/driver.yaml"))
	repository := ""
	for _, assignment := range strings.Fields(set[2]) {
		container, image, _ := strings.Cut(assignment, "=")
		repository = image[:strings.LastIndex(image, ":")]
		for _, list := range [][]corev1.Container{is.Spec.Template.Spec.InitContainers, is.Spec.Template.Spec.Containers} {
			for i := range list {
				if list[i].Name == container {
					list[i].Image = image
				}
			}
		}
	}
	for _, release := range []string{to, to + ".1", to + ".98"} { // its first and last patches may have other drivers
		var stderr bytes.Buffer
		a := &app.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr}
		out := filepath.Join(t.TempDir(), "out")
		if a.Run(t.Context(), bake.New(a), append(slices.Clone(args), "--for", release, "--out", out)) != 0 {
			continue
		}
		want := parsed(t, read(t, filepath.Join(out, csidriver.DaemonSetFile)))
		if !slices.ContainsFunc(want.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return strings.HasSuffix(set[2], "="+c.Image) }) {
			continue
		}
		for _, what := range podDifferences(&is.Spec.Template.Spec, &want.Spec.Template.Spec, repository) {
			t.Errorf("%s: %s", set[0], what)
		}
		return
	}
	t.Errorf("no bake writes what %s sets", set[0])
}

// podDifferences are those of two pods without the images and resources of the
// containers beside the driver's and how they are probed: those work as they are.
func podDifferences(is, want *corev1.PodSpec, image string) (list []string) {
	for _, spec := range []*corev1.PodSpec{is, want} {
		spec.TerminationGracePeriodSeconds = nil
		spec.Containers = slices.DeleteFunc(spec.Containers, func(c corev1.Container) bool { return !strings.HasPrefix(c.Image, image) })
		for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for i := range containers {
				c := &containers[i]
				c.Resources, c.LivenessProbe, c.ReadinessProbe = corev1.ResourceRequirements{}, nil, nil
			}
		}
	}
	for _, d := range finding.Differences(is, want) {
		list = append(list, fmt.Sprintf("%s: %v, bake writes %v", d.Key, d.Observed, d.Expected))
	}
	return list
}

func parsed(t *testing.T, text string) *appsv1.DaemonSet {
	t.Helper()
	var ds appsv1.DaemonSet
	if err := yaml.Unmarshal([]byte(text), &ds); err != nil {
		t.Fatal(err)
	}
	return &ds
}

// succeeds runs a command in this process, which must not fail.
func succeeds(t *testing.T, build func(*app.App) *cobra.Command, args []string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
	if code := a.Run(t.Context(), build(a), args); code != 0 {
		t.Errorf("%q: exit %d\n%s", args, code, stderr.String())
	}
	return stdout.String()
}

// save writes a cluster with a folder's DaemonSet in a place of its own, on a node, and
// returns the DaemonSet's name.
func save(t *testing.T, folder *csidriver.Folder, namespace, name, windows, provisioner string) string {
	t.Helper()
	text := ""
	for _, f := range folder.Files {
		if f.Name == csidriver.DaemonSetFile {
			text = string(f.Data)
		}
	}
	usual := regexp.MustCompile(`\n  name: (\S+)\n`).FindStringSubmatch(text)
	if usual == nil {
		t.Fatal("there is no DaemonSet")
	}
	if name == "" {
		name, namespace = usual[1], csidriver.OperatorNamespace
	}
	text = strings.ReplaceAll(text, usual[1], name)
	if namespace != csidriver.OperatorNamespace {
		text = strings.ReplaceAll(text, "namespace: "+csidriver.OperatorNamespace, "namespace: "+namespace)
		text = regexp.MustCompile(`serviceAccountName: .*`).ReplaceAllString(text, "serviceAccountName: "+name+"-sa")
	}
	build := map[string]string{"2022": "10.0.20348", "2025": "10.0.26100"}[windows]
	node := fmt.Sprintf(`apiVersion: v1
kind: Node
metadata:
  name: win-1
  labels: {kubernetes.io/os: windows, kubernetes.io/arch: amd64, node.kubernetes.io/windows-build: %s}
status: {nodeInfo: {operatingSystem: windows, kernelVersion: %s.1}}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: win-1}
spec: {drivers: [{name: %s, nodeID: win-1}]}
`, build, build, provisioner)
	for file, text := range map[string]string{"driver.yaml": text, "nodes.yaml": node} {
		if err := os.MkdirAll("in", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("in", file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// raised is --catalog with rows in which a release ships the next patch of a driver;
// nil where it ships none that is known.
func raised(t *testing.T, known *catalog.Catalog, driver, release string) []string {
	t.Helper()
	r := known.Release(release)
	list := r.Drivers[driver]
	if len(list) == 0 || list[len(list)-1].Version == "" {
		return nil
	}
	v := version.MustDriver(list[len(list)-1].Version)
	text := fmt.Sprintf(`apiVersion: winbake.dev/catalog/v1
releases:
  - openshift: %q
    kubernetes: %q
    next: [%s]
    kubeletSkew: 2
    drivers:
      %s:
        - {version: %d.%d.%d, certainty: range, evidence: [{source: our own build}]}
`, release, r.Kubernetes, quoted(r.Next), driver, v.Major, v.Minor, v.Patch+1)
	if err := os.WriteFile("rows.yaml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{"--catalog", "rows.yaml"}
}

// quoted are texts as YAML takes them for texts.
func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}
