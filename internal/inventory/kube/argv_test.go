package kube

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestSplitLine(t *testing.T) {
	for line, want := range map[string][]string{
		`a --b=c  d`:                   {"a", "--b=c", "d"},
		`& .\a.exe --b='c d'; exit`:    {`.\a.exe`, "--b=c d", "exit"},
		`a "--b=C:\Program Files\x" c`: {"a", `--b=C:\Program Files\x`, "c"},
		"a \\\n  --b\n":                {"a", `\`, "--b"},
		`a && b || c | d`:              {"a", "b", "c", "d"},
		`a ""`:                         {"a", ""},
		`a "b`:                         {"a", "b"},
		"":                             nil,
	} {
		if got := splitLine(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "x", "B": "$(A)", "_C.d-e": "y"}
	for text, want := range map[string]string{
		"$(A)/$(B)": "x/$(A)", "$$(A)": "$(A)", "$(NONE)": "$(NONE)", "$(_C.d-e)": "y", "$(": "$(", "$()": "$()", "plain": "plain",
	} {
		if got := expand(text, env); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"$env:A": "x", "${env:A}": "x", "%A%": "x", "$A": "x", "${A}/b": "x/b", "$NONE": "$NONE", "100%": "100%", "$ENV:A": "x",
	} {
		if got := expandShell(text, env); got != want {
			t.Errorf("shell %q: %q, want %q", text, got, want)
		}
	}
}

func TestFlag(t *testing.T) {
	for line, want := range map[string]string{
		"--f=v": "v", "-f=v": "v", "--f v": "v", "--f": "", "--f --g": "", "--ff=v": "none", "f=v": "none", "--f=": "", "--f=a --f=b": "a", "--f=a=b": "a=b",
	} {
		var words []word
		for _, w := range splitLine(line) {
			words = append(words, word{text: w})
		}
		got := "none"
		if w, ok := flag(words, "f"); ok {
			got = w.text
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// A command line of any kind must neither panic nor make a provisioner that
// can't be one.
func FuzzRegistration(f *testing.F) {
	for _, s := range []string{
		`--kubelet-registration-path=C:\var\lib\kubelet\plugins\a.b.c\csi.sock`, `cmd /c "x --kubelet-registration-path=$(S)"`,
		`--kubelet-registration-path=/plugins/`, `--kubelet-registration-path=\\.\pipe\csi-proxy-a-v1`, `--kubelet-registration-path %S% 'x`, "--kubelet-registration-path=plugins/x\x00y",
	} {
		f.Add(s, `C:\var\lib\kubelet\plugins\d.e.f\csi.sock`)
	}
	f.Fuzz(func(t *testing.T, arg, value string) {
		ct := corev1.Container{Name: "r", Args: []string{arg}, Env: []corev1.EnvVar{{Name: "S", Value: value}}}
		p := podTemplate{&corev1.PodSpec{Containers: []corev1.Container{ct}}, templateBase, ObjectLocator(object("DaemonSet", "n", "x"))}
		for _, c := range registrations(p, p.containers()) {
			if c.folder == "" || strings.ContainsAny(c.folder, `/\`) || c.at.Where == "" {
				t.Errorf("%q, %q: %+v", arg, value, c)
			}
		}
		if group, version, ok := parsePipe(value); ok && (group == "" || !strings.HasPrefix(version, "v")) {
			t.Errorf("%q: %q %q", value, group, version)
		}
	})
}
