package mustgather

import (
	"reflect"
	"strings"
	"testing"
)

const versionOf419 = "Version: v1.1.3-34-g5cb6e2d"

// proxyLines is the head of a log, each line with prefix in front.
func proxyLines(prefix, version string) string {
	lines := []string{
		"Log file created at: 2026/11/20 10:00:00",
		"Running on machine: WIN-1",
		"I1120 10:00:00.000001    1234 main.go:67] Starting CSI-Proxy Server ...",
		"I1120 10:00:00.000002    1234 main.go:68] " + version,
		"I1120 10:00:00.000003    1234 main.go:81] Working directories: [C:\\var\\lib\\kubelet]",
	}
	return prefix + strings.Join(lines, "\n"+prefix) + "\n"
}

func TestReadProxyLog(t *testing.T) {
	tests := []struct {
		name, src string
		want      []versionLine
	}{
		{"one", proxyLines("", versionOf419), []versionLine{{"", 4, versionOf419}}},
		{"prefixed", proxyLines("win-1 ", versionOf419) + proxyLines("win-2.example ", "Version: v1.1.3-0-g0211fea"),
			[]versionLine{{"win-1", 4, versionOf419}, {"win-2.example", 9, "Version: v1.1.3-0-g0211fea"}}},
		{"restarted", proxyLines("win-1 ", "Version: v1.1.3-0-g0211fea") + proxyLines("win-1 ", versionOf419),
			[]versionLine{{"win-1", 4, "Version: v1.1.3-0-g0211fea"}, {"win-1", 9, versionOf419}}},
		{"all alike", proxyLines("", versionOf419) + proxyLines("", versionOf419), []versionLine{{"", 4, versionOf419}, {"", 9, versionOf419}}},
		{"two of unknown nodes", proxyLines("", versionOf419) + proxyLines("", "Version: v1.3.0"), []versionLine{{"", 4, versionOf419}, {"", 9, "Version: v1.3.0"}}},
		{"CRLF", strings.ReplaceAll(proxyLines("", versionOf419), "\n", "\r\n"), []versionLine{{"", 4, versionOf419}}},
		{"no version", "I1120 10:00:00.000002    1234 main.go:68] Version: \n", []versionLine{{"", 1, "Version: "}}},
		{"no line end", "I1120 10:00:00.000002    1234 main.go:68] Version: v1", []versionLine{{"", 1, "Version: v1"}}},
		{"rotated away", "I1120 10:00:00.000003 1 smb.go:1] request\n", nil},
		{"words of a request", "I1120 10:00:00.0 1 a.go:1] output: Version: v9.9.9\n", nil},
		{"long lines", strings.Repeat("x", 3*maxLine) + "\n" + proxyLines("", versionOf419), []versionLine{{"", 5, versionOf419}}},
		{"empty", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readProxyLog(strings.NewReader(tt.src))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
}

func FuzzReadProxyLog(f *testing.F) {
	f.Add(proxyLines("win-1 ", versionOf419))
	f.Add("I1120 ] Version:")
	f.Add(strings.Repeat("x", maxLine) + "\n\n\r\n")
	f.Fuzz(func(t *testing.T, src string) {
		lines, err := readProxyLog(strings.NewReader(src))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			if l.line < 1 || l.line > strings.Count(src, "\n")+1 || !strings.HasPrefix(l.text, "Version:") {
				t.Errorf("%+v", l)
			}
		}
	})
}
