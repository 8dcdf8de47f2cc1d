package expect

import (
	"errors"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

func TestStarted(t *testing.T) {
	usage := Answer{Text: "flag provided but not defined: -version\nUsage\n", Exit: 2}
	help := Answer{Text: "Usage of C:\\kube-log-runner.exe:\n"}
	stamped := &Program{Component: "kubelet", Stamps: map[string]string{"v.gitVersion": "v1.33.13", "v.gitMajor": "1", "v.gitCommit": "0123456789ab"}}
	bare := &Program{Component: "exporter", Stamps: map[string]string{"v.Version": "0.30.8"}}
	unstamped := &Program{Component: "kube-log-runner"}
	for _, test := range []struct {
		name     string
		program  *Program
		run      Run
		severity finding.Severity
		observed string
	}{
		{"the pinned version", stamped, Run{Version: Answer{Text: "Kubernetes v1.33.13\r\n"}}, finding.Pass, "Kubernetes v1.33.13"},
		{"among others", bare, Run{Version: Answer{Text: "\nwindows_exporter, version 0.30.8 (branch: , revision: d451)\n go 1.26\n"}}, finding.Pass, "windows_exporter, version 0.30.8 (branch: , revision: d451)"},
		{"another version", stamped, Run{Version: Answer{Text: "Kubernetes v1.33.1\n"}}, finding.Block, "Kubernetes v1.33.1"},
		{"a longer version", stamped, Run{Version: Answer{Text: "Kubernetes v1.33.130\n"}}, finding.Block, "Kubernetes v1.33.130"},
		{"a number that is in it", stamped, Run{Version: Answer{Text: "Kubernetes 1\n"}}, finding.Block, "Kubernetes 1"},
		{"nothing", stamped, Run{Version: Answer{}}, finding.Block, ""},
		{"no --version", stamped, Run{Version: usage, Help: help}, finding.Info, "no --version"},
		{"no stamp", unstamped, Run{Version: Answer{Text: "v9.9.9\n"}}, finding.Info, "v9.9.9"},
		{"no pin", nil, Run{Version: Answer{Text: "v9.9.9\n"}}, finding.Pass, "v9.9.9"},
		{"no pin, no --version", nil, Run{Version: usage, Help: help}, finding.Info, "no --version"},
		{"doesn't start", stamped, Run{Version: Answer{Exit: 1}, Help: Answer{Text: "fatal: no random\n", Exit: 2}}, finding.Block, "--version ends with code 1, --help with code 2: fatal: no random"},
		{"crashes", stamped, Run{Version: Answer{Text: "Kubernetes v1.33.13\n", Crash: "exception 0xC0000005"}}, finding.Block, "it crashes: exception 0xC0000005"},
		{"crashes over help", stamped, Run{Version: usage, Help: Answer{Text: "panic: x\n", Exit: 2, Crash: "panic: x"}}, finding.Block, "it crashes: panic: x"},
		{"hangs", stamped, Run{Version: Answer{Err: errors.New("it didn't end")}}, finding.Unknown, "it didn't end"},
		{"hangs over help", stamped, Run{Version: usage, Help: Answer{Err: errors.New("it didn't end")}}, finding.Unknown, "it didn't end"},
		{"a long line", nil, Run{Version: Answer{Text: strings.Repeat("é", 500)}}, finding.Pass, strings.Repeat("é", 120) + "..."},
	} {
		fs := test.program.Started("kubelet.exe", test.run)
		if len(fs) != 1 || fs[0].ID != "binary.run" || fs[0].Object != "kubelet.exe" || fs[0].Severity != test.severity || !strings.Contains(fs[0].Observed, test.observed) {
			t.Errorf("%s: %+v, want %s %q", test.name, fs, test.severity, test.observed)
		}
		if len(fs) == 1 && fs[0].Severity > finding.Pass && fs[0].Why == "" {
			t.Errorf("%s: it doesn't say why", test.name)
		}
	}
}
