package verify

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cli/app"
)

const example = "../../../examples/cluster-4.19-vsphere"

// run runs verify in this process, as its main does.
func run(ctx context.Context, stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	a := &app.App{Stdin: stdin, Stdout: &out, Stderr: &errs}
	code = a.Run(ctx, New(a), args)
	return code, out.String(), errs.String()
}

func skewOf(more ...string) []string {
	return append([]string{"skew", "--from", "4.19", "--to", "4.20", "--manifests", example}, more...)
}

// blocked is a terminal that nobody types at.
type blocked struct{ reading chan struct{} }

func (b *blocked) Read([]byte) (int, error) {
	close(b.reading)
	select {}
}

// A user who stops the command isn't kept waiting by an input that never comes.
func TestStoppedWhileReading(t *testing.T) {
	for _, args := range [][]string{
		{"skew", "--from", "4.19", "--to", "4.20", "--manifests", "-"},
		{"skew", "plan", "--from", "4.19", "--to", "4.20", "--manifests", "-"},
	} {
		ctx, stop := context.WithCancel(t.Context())
		in := &blocked{make(chan struct{})}
		go func() {
			<-in.reading
			stop()
		}()
		if code, out, _ := run(ctx, in, args...); code != 1 || out != "" {
			t.Errorf("%s: exit code %d\n%s", args, code, out)
		}
	}
}

// What can't be is said before a cluster is read: the server isn't even there.
func TestRefusedBeforeReading(t *testing.T) {
	for flags, want := range map[string]string{
		"--to banana":                "banana",
		"--from 4.x":                 "4.x",
		"-o xml":                     "xml",
		"4.20 --manifests a":         "name the target with --to 4.20",
		"a.yaml --manifests b.yaml":  "repeat the flag: --manifests",
		"--accept SKEW999":           "no rule SKEW999",
		"--accept SKEW999=DaemonSet": "no rule SKEW999",
	} {
		args := strings.Fields("skew " + flags)
		if !strings.Contains(flags, "--manifests") {
			args = append(args, "--server", "https://127.0.0.1:1")
		}
		code, out, errs := run(t.Context(), strings.NewReader(""), args...)
		if code != 1 || out != "" || !strings.Contains(errs, want) || !strings.Contains(errs, "\nfix: ") {
			t.Errorf("%s: exit code %d\n%s%s", flags, code, out, errs)
		}
	}
}

// A rule is accepted in either case; an object of another name accepts nothing.
func TestAccept(t *testing.T) {
	all := []string{"--accept", "skew001", "--accept", "hp005=DaemonSet openshift-cluster-csi-drivers/vmware-vsphere-csi-driver-node-windows", "--fail-on", "warn"}
	if code, out, errs := run(t.Context(), nil, skewOf(all...)...); code != 0 || !strings.Contains(out, "1 finding accepted by") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	for _, rule := range []string{"HP005=DaemonSet elsewhere/x", "REG002", "olm001"} {
		if code, _, errs := run(t.Context(), nil, skewOf("--accept", rule, "--fail-on", "warn")...); code != 2 {
			t.Errorf("%s: exit code %d\n%s", rule, code, errs)
		}
	}
}

func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"skew --to ":      "4.20",
		"skew --from ":    "4.8",
		"skew plan --to ": "5.0",
		"skew --explain ": "HP001",
		"catalog ":        "vsphere",
	} {
		words := append([]string{"__complete"}, strings.Split(args, " ")...)
		_, out, _ := run(t.Context(), nil, words...)
		if !strings.Contains("\n"+out, "\n"+want+"\n") || !strings.Contains(out, "all\n") && strings.Contains(args, "explain") {
			t.Errorf("%q completes to\n%s", args, out)
		}
	}
}

// A report is passed around, so the command line in it holds no secret. It is one that
// does the same: a plan takes it too, which has no --details.
func TestCommandLineWithoutSecrets(t *testing.T) {
	cmd := newSkew(&tool{App: &app.App{}})
	if err := cmd.ParseFlags([]string{"--token", "t0ken", "--proxy-url", "http://me:pa55@proxy", "--to", "4.20", "--context", "it's", "--details=false", "--static=false", "--eus"}); err != nil {
		t.Fatal(err)
	}
	if got, want := commandLine(cmd), `skew --context 'it'\''s' --eus --static=false --to 4.20`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
