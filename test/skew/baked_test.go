package skew

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
)

var bakeCommand = regexp.MustCompile("bake manifests csi-driver [^\\n\"\\\\`]+")

// printed are the commands of a kind that any of the cases prints, each with the file
// of one of them.
func printed(t *testing.T, kind *regexp.Regexp) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, e := range examples(t) {
		for _, command := range kind.FindAllString(e.json(t), -1) {
			all[strings.TrimSpace(command)] = filepath.Join(e.dir, "cmd")
		}
	}
	return all
}

// TestBakeCommandsWork runs each `bake manifests csi-driver` that a remedy or a
// plan prints in any of the cases.
func TestBakeCommandsWork(t *testing.T) {
	told := printed(t, bakeCommand)
	if len(told) != 22 {
		t.Errorf("%d commands: %v", len(told), told)
	}
	for command, file := range told {
		before, out, ok := strings.Cut(command, " --out ")
		if !ok || strings.ContainsAny(out, " /") {
			t.Errorf("%s: %s: --out isn't the last flag", file, command)
			continue
		}
		var stdout, stderr bytes.Buffer
		a := &app.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
		args := strings.Fields(before)[1:]
		args = append(args, "--out", filepath.Join(t.TempDir(), out))
		if at := slices.Index(args, "--upgrade-from") + 1; at > 0 {
			args[at] = fetched(t, filepath.Dir(file), args[at])
		}
		if at := slices.Index(args, "--catalog") + 1; at > 0 {
			args[at] = filepath.Join(filepath.Dir(file), args[at])
		}
		if code := a.Run(t.Context(), bake.New(a), args); code != 0 {
			t.Errorf("%s: %s: exit %d\n%s", file, command, code, stderr.String())
		}
	}
}

var driverCommand = regexp.MustCompile("bake driver [^\\n\"\\\\`]+? --release-image ")

// TestBakeDriverCommandsWork gives each `bake driver` that is printed to bake, as far
// as the commit that it would build.
func TestBakeDriverCommandsWork(t *testing.T) {
	told := printed(t, driverCommand)
	for command := range told {
		var stdout, stderr bytes.Buffer
		a := &app.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
		if code := a.Run(t.Context(), bake.New(a), append(strings.Fields(strings.TrimSuffix(command, " --release-image"))[1:], "--pins")); code != 0 || !strings.Contains(stdout.String(), "commit: ") {
			t.Errorf("%s: exit %d\n%s", command, code, stderr.String())
		}
	}
	if len(told) != 4 {
		t.Errorf("%d commands: %v", len(told), told)
	}
}

// fetched is what the `oc get daemonset` before a command writes, NAME-old.yaml:
// the DaemonSet of that name among the inputs of a case.
func fetched(t *testing.T, dir, old string) string {
	t.Helper()
	for _, file := range []string{filepath.Join(dir, old), filepath.Join(dir, "in", old)} {
		if _, err := os.Stat(file); err == nil {
			return file // a manifest that has no cluster behind it
		}
	}
	inputs, err := filepath.Glob(filepath.Join(dir, "in", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, name, _ := strings.Cut(strings.TrimSuffix(old, "-old.yaml"), ".")
	for _, input := range append(inputs, filepath.Join(dir, "cluster.yaml")) {
		for doc := range strings.SplitSeq(read(t, input), "\n---\n") {
			set := daemonSet(t, doc, name)
			if set == nil {
				continue
			}
			file := filepath.Join(t.TempDir(), old)
			if err := os.WriteFile(file, set, 0o644); err != nil {
				t.Fatal(err)
			}
			return file
		}
	}
	t.Fatalf("%s: no DaemonSet for %s", dir, old)
	return ""
}

// daemonSet is the one of a name in a document, which may be a List; nil for none.
func daemonSet(t *testing.T, doc, name string) []byte {
	t.Helper()
	var o struct {
		Kind     string
		Metadata struct{ Name string }
		Items    []json.RawMessage
	}
	if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
		return nil // an input may be broken
	}
	if o.Kind == "DaemonSet" && o.Metadata.Name == name {
		return []byte(doc)
	}
	for _, item := range o.Items {
		if found := daemonSet(t, string(item), name); found != nil {
			return found
		}
	}
	return nil
}
