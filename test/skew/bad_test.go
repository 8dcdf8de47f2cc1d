package skew

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A cluster that can be judged, to put something bad beside.
const (
	goodNodes     = "testdata/01-vsphere-4.19-4.20/in/cluster.yaml"
	goodDaemonSet = "testdata/01-vsphere-4.19-4.20/in/daemonset.yaml"
)

var asked = []string{"skew", "--from", "4.19", "--to", "4.20"}

func ask(more ...string) []string { return append(slices.Clone(asked), more...) }

// write puts a file into a folder of the test's own.
func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

var oneError = regexp.MustCompile(`\Aerror: [^\n]+\n([0-9 ]+\| [^\n]*\n +\| *\^[^\n]*\n)?(fix: [^\n]+\n)\z`)

// Alone, what can't be read is one error with a place and a fix and exit code
// 1, or UNKNOWN where it is at least an object. Beside a cluster it is UNKNOWN,
// names that place, and passes for nothing.
func TestBadFile(t *testing.T) {
	daemonSet := read(t, goodDaemonSet)
	for name, c := range map[string]struct{ content, where, what string }{
		"not YAML":            {"Dear all,\n\n\tthe new driver: {it's there\n", "bad.yaml:3", "isn't YAML"},
		"cut in a quote":      {daemonSet[:strings.Index(daemonSet, `"59"`)+2], "bad.yaml:", "isn't YAML"},
		"a Go template":       {"{{- if .Values.windows }}\n" + daemonSet + "{{- end }}\n", "bad.yaml:1", "template"},
		"an alias to itself":  {"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: &m\n  name: a\n  labels: {a: *m}\n", "bad.yaml:", ""},
		"an alias bomb":       {bomb(), "bad.yaml:", ""},
		"an object of no API": {strings.Replace(daemonSet, "apps/v1", "v1", 1), "bad.yaml:1", "it is of apps/v1"},
		"bytes":               {"\x00\x01\x02\xff\xfe PK\x03\x04", "bad.yaml:1", ""},
		"tabs":                {"apiVersion: v1\nkind: Node\nmetadata:\n\tname: x\n", "bad.yaml:4", "cannot start any token"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			bad := write(t, dir, "bad.yaml", c.content)
			out := run(t, ask("--details", "--manifests", bad)...)
			refused := out.exit == 1 && oneError.MatchString(out.stderr) && out.stdout == ""
			open := out.exit == 4 && strings.HasPrefix(out.stdout, "UNKNOWN") && out.stderr == ""
			said := flat(out.stdout + out.stderr)
			if !refused && !open || !strings.Contains(said, c.where) || !strings.Contains(said, c.what) {
				t.Errorf("alone: exit code %d\n%s%s", out.exit, out.stdout, out.stderr)
			}
			out = run(t, ask("--details", "--manifests", bad, "--manifests", goodNodes, "--manifests", goodDaemonSet)...)
			if out.exit != 4 || !strings.Contains(out.stdout, c.where) || !strings.HasPrefix(out.stdout, "UNKNOWN") {
				t.Errorf("beside a cluster: exit code %d\n%s%s", out.exit, out.stdout, out.stderr)
			}
		})
	}
}

// bomb has some 9^9 nodes once its aliases are followed.
func bomb() string {
	var b strings.Builder
	b.WriteString("apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: bomb\nspec:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "  a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return b.String()
}

// Line ends of Windows and a byte order mark change nothing in the answer.
func TestLineEndsOfWindows(t *testing.T) {
	dir := t.TempDir()
	var plain, windows []string
	for _, file := range []string{goodNodes, goodDaemonSet} {
		text := read(t, file)
		plain = append(plain, "--manifests", write(t, dir, "plain-"+filepath.Base(file), text))
		windows = append(windows, "--manifests", write(t, dir, "bom-"+filepath.Base(file), "\ufeff"+strings.ReplaceAll(text, "\n", "\r\n")))
	}
	want := run(t, ask(plain...)...)
	got := run(t, ask(windows...)...)
	if want.exit != 0 || got.exit != want.exit || strings.ReplaceAll(got.stdout, "/bom-", "/plain-") != want.stdout {
		t.Errorf("exit codes %d and %d\n%s", want.exit, got.exit, firstDifference(want.stdout, strings.ReplaceAll(got.stdout, "/bom-", "/plain-")))
	}
}

// 50 MB in one file, 6,000 documents of which the last is the DaemonSet.
func TestLargeFile(t *testing.T) {
	var b bytes.Buffer
	filler := strings.Repeat("0123456789abcdef", 512)
	for i := range 6000 {
		fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c-%d\n  namespace: shop\ndata:\n  text: %s\n---\n", i, filler)
	}
	lines := bytes.Count(b.Bytes(), []byte("\n"))
	b.WriteString(read(t, goodDaemonSet))
	if b.Len() < 47<<20 {
		t.Fatalf("only %d bytes", b.Len())
	}
	path := write(t, t.TempDir(), "all.yaml", b.String())
	out := run(t, ask("--details", "--static", "--manifests", path)...)
	before, _, _ := strings.Cut(read(t, goodDaemonSet), "apiVersion")
	objectLine := lines + 1 + strings.Count(before, "\n")
	if place := fmt.Sprintf("%s:%d: registry.k8s.io/csi-vsphere/driver:v3.3.0", path, objectLine); out.exit != 0 || !strings.Contains(out.stdout, place) {
		t.Errorf("exit code %d, want 0 and %s\n%s%s", out.exit, place, out.stdout, out.stderr)
	}
	if !strings.Contains(out.stdout, "6,001 documents") {
		t.Error("it doesn't say how much was read")
	}
}

// Images that don't say a version are UNKNOWN with the line that holds them;
// a port, a path or a variant of the tag isn't mistaken for one.
func TestImages(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("ab", 32)
	for image, want := range map[string]string{
		"registry.k8s.io/csi-vsphere/driver":                              "no tag",
		"registry.k8s.io/csi-vsphere/driver:latest":                       "latest",
		"registry.k8s.io/csi-vsphere/driver:canary":                       "canary",
		"registry.k8s.io/csi-vsphere/driver" + digest:                     "digest",
		"mirror.example.com:5000/1.32.0/driver":                           "no tag",
		"registry.k8s.io/csi-vsphere/driver:v.3.3.0":                      "dot after the v",
		"registry.k8s.io/csi-vsphere/driver:v999.1.0":                     "absurdly high",
		"registry.k8s.io/csi-vsphere/driver:v4.14.0-202311021650.p0.gabc": "",
		"registry.k8s.io/CSI/Driver:v3.3.0":                               "",
		"${REGISTRY}/driver:v3.3.0":                                       "template",
		"mirror.example.com:5000/x/csi-vsphere/driver:v3.3.0":             known,
		"mirror.example.com:5000/x/driver:v3.3.0" + digest:                known,
		"registry.k8s.io/csi-vsphere/driver:3.3.0":                        known,
		"registry.k8s.io/csi-vsphere/driver:v3.3.0-rc.1":                  known,
	} {
		t.Run(image, func(t *testing.T) {
			text := strings.Replace(read(t, goodDaemonSet), "registry.k8s.io/csi-vsphere/driver:v3.3.0", image, 1)
			path := write(t, t.TempDir(), "daemonset.yaml", text)
			out := run(t, ask("--details", "--manifests", path, "--manifests", goodNodes)...)
			if want == known {
				if out.exit != 0 || !strings.Contains(out.stdout, "Windows 3.3.0") {
					t.Errorf("exit code %d\n%s", out.exit, out.stdout)
				}
				return
			}
			if out.exit != 4 || !strings.Contains(out.stdout, "SKEW005") || !strings.Contains(out.stdout, path+":1") || !strings.Contains(flat(out.stdout), want) {
				t.Errorf("exit code %d, want 4 with SKEW005, %s:1 and %q\n%s%s", out.exit, path, want, out.stdout, out.stderr)
			}
		})
	}
}

const known = "known"

// flat undoes the wrapping of lines.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// Flags that can't be are one error with a fix.
func TestBadFlags(t *testing.T) {
	for _, c := range []struct{ args, what string }{
		{"--from 4.19 --to banana", "banana"},
		{"--from 4.20 --to 4.19", "older"},
		{"--from 4.19.9 --to 4.19.3", "older"},
		{"--from 4 --to 4.20", "4"},
		{"--from 4.19 --to 4.20 -o yaml", "yaml"},
		{"--from 4.19 --to 4.20 --fail-on info", "info"},
		{"--from 4.19 --to 4.20 --image-version nonsense", "nonsense"},
		{"--from 4.19 --to 4.20 --image-version a=latest", "latest"},
		{"--from 4.19 --to 4.20 --release-image " + goodNodes, ""},
		{"--from 4.19 --to 4.20 --manifests nowhere", "nowhere"},
		{"--from 4.19 --to 4.20 --must-gather testdata", "--must-gather"},
		{"--explain SKEW999", "SKEW999"},
	} {
		t.Run(c.args, func(t *testing.T) {
			out := run(t, append(strings.Fields("skew --manifests "+goodDaemonSet), strings.Fields(c.args)...)...)
			if out.exit != 1 || !strings.HasPrefix(out.stderr, "error: ") || !strings.Contains(out.stderr, "\nfix: ") || !strings.Contains(out.stderr, c.what) || out.stdout != "" {
				t.Errorf("exit code %d\n%s%s", out.exit, out.stdout, out.stderr)
			}
		})
	}
}
