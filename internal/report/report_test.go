package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
)

var update = flag.Bool("update", false, "write the golden files")

func sample() Report {
	return Report{
		Tool: "verify", Version: "v1.2.3",
		Subject: "_output/image@sha256:2cf24dba5fb0a30e", Checked: "12 files",
		Notes: []string{"The catalog is of 2026-10-01, which is 51 days ago; drivers that were released since then aren't in it."},
		Findings: []finding.Finding{
			{ID: "payload.sum.listed", Severity: finding.Pass, Object: "csi-proxy/csi-proxy.exe"},
			{ID: "binary.stamp", Severity: finding.Unknown, Object: "hybrid-overlay-node.exe", Why: "the executable has no symbol table"},
			{ID: "binary.go.version", Severity: finding.Block, Object: "csi-proxy.exe", Observed: "go1.26.7", Expected: "go1.26.8",
				Why:    "another toolchain brings another standard library, with its own behaviour and its own security holes",
				Remedy: "bake build csi-proxy --no-cache && bake payload --layout _output/image --format archived", When: "before the release"},
			{ID: "payload.file.unexpected", Severity: finding.Block, Object: "evil.exe",
				Observed: "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\nsecond line"},
			{ID: "payload.mode", Severity: finding.Warn, Object: "powershell/hns.psm1", Observed: "0777", Expected: "0644"},
			{ID: "payload.mode", Severity: finding.Warn, Object: "powershell/helper.psm1", Observed: "0777", Expected: "0644"},
			{ID: "payload.mode", Severity: finding.Warn, Object: "powershell/other.ps1", Observed: "0700", Expected: "0644"},
			{ID: "SKEW001", Severity: finding.Info, Accepted: "WARN", Object: "DaemonSet csi/vsphere-windows", Phase: "control-plane", Hop: "4.19 -> 4.20",
				Observed: "Windows 3.3.0, Linux 3.5.0", Source: "https://github.com/openshift/enhancements/blob/master/enhancements/windows-containers/csi-proxy.md",
				Evidence: []string{"manifests/vsphere.yaml:41", "release 4.20.3 vsphere-csi-driver"}},
			{ID: "payload.base", Severity: finding.Info, Object: "", Observed: "no base <image> & no \"label\""},
			{ID: "payload.sum.listed", Severity: finding.Pass, Object: "kubelet.exe"},
		},
	}
}

// hostile is what an image can hold: terminal escapes in every form, broken
// UTF-8, text that runs backwards, characters that XML can't hold.
const hostile = "a\x1b[31m\x1b]0;t\x07b\x00c\x7f\u009b2Jd\xff\xfee\u202ef\u2028g\ufffeh\U000e0001i\rj\x08k\tl"

func hostileReport() Report {
	f := finding.Finding{ID: hostile, Severity: finding.Block, Object: hostile, Observed: hostile, Expected: hostile,
		Why: hostile, Remedy: hostile + "\n" + hostile, When: hostile, Source: hostile, Phase: hostile, Hop: hostile,
		Evidence: []string{hostile, hostile}, Accepted: hostile}
	fs := []finding.Finding{f}
	for s := finding.Pass; s < finding.Block; s++ {
		f.Severity = s
		fs = append(fs, f)
	}
	return Report{Tool: "verify", Subject: hostile, Checked: hostile, Findings: fs, Notes: []string{hostile}}
}

func write(t testing.TB, format string, r Report, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	strict := sample()
	strict.FailOn = finding.FailOn(finding.Warn)
	lax := sample()
	lax.FailOn = finding.FailOn(finding.Block)
	for _, tt := range []struct {
		file, format string
		report       Report
		options      Options
	}{
		{"plain.txt", "text", sample(), Options{}},
		{"verbose-color.txt", "text", sample(), Options{Color: true, Verbose: true}},
		{"empty.txt", "text", Report{}, Options{}},
		{"hostile.txt", "text", hostileReport(), Options{Verbose: true}},
		{"report.json", "json", sample(), Options{}},
		{"empty.json", "json", Report{}, Options{}},
		{"hostile.json", "json", hostileReport(), Options{}},
		{"report.xml", "junit", sample(), Options{}},
		{"fail-on-warn.xml", "junit", strict, Options{}},
		{"fail-on-block.xml", "junit", lax, Options{}},
		{"empty.xml", "junit", Report{Subject: "d", Checked: "0 files"}, Options{}},
		{"hostile.xml", "junit", hostileReport(), Options{}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			golden(t, tt.file, write(t, tt.format, tt.report, tt.options))
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (-update writes it again):\n%s", path, got)
	}
}

func TestOrderOfFindingsDoesntMatter(t *testing.T) {
	for _, format := range Formats {
		r := sample()
		want := write(t, format, r, Options{Verbose: true})
		slices.Reverse(r.Findings)
		given := slices.Clone(r.Findings)
		if got := write(t, format, r, Options{Verbose: true}); got != want {
			t.Errorf("%s, reversed:\n%s", format, got)
		}
		if !slices.EqualFunc(r.Findings, given, same) {
			t.Errorf("%s: the caller's findings were sorted", format)
		}
	}
}

func same(a, b finding.Finding) bool { return reflect.DeepEqual(a, b) }

func TestUnknownFormat(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, "yaml", sample(), Options{})
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || !strings.Contains(f.What, `"yaml"`) || b.Len() > 0 {
		t.Fatalf("%v; wrote %q", err, b.String())
	}
	for _, format := range Formats {
		if !strings.Contains(f.Fix, format) {
			t.Errorf("the fix doesn't name %s: %s", format, f.Fix)
		}
	}
}

var errClosed = errors.New("closed")

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errClosed }

func TestWriteError(t *testing.T) {
	for _, format := range Formats {
		if err := Write(closed{}, format, sample(), Options{}); !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestJSONKeepsValues(t *testing.T) {
	r := hostileReport()
	var d Document
	if err := json.Unmarshal([]byte(write(t, "json", r, Options{})), &d); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(strings.ReplaceAll(hostile, "\xff", "\ufffd"), "\xfe", "\ufffd")
	if d.Subject != want || d.Findings[0].Object != want || d.Findings[0].Evidence[1] != want {
		t.Errorf("got %q\nwant %q", d.Subject, want)
	}
}

func TestJUnitCountsItsCases(t *testing.T) {
	for _, failOn := range []finding.Severity{finding.Warn, finding.Unknown, finding.Block} {
		r := hostileReport()
		r.FailOn = finding.FailOn(failOn)
		var d junitSuites
		if err := xml.Unmarshal([]byte(write(t, "junit", r, Options{})), &d); err != nil {
			t.Fatal(err)
		}
		s := d.Suites[0]
		failures, failed := 0, 0
		for _, c := range s.Cases {
			if c.Failure != nil {
				failures++
			}
			if c.Failure != nil || c.Error != nil {
				failed++
			}
		}
		if s.Tests != len(r.Findings) || s.Failures != failures || s.Failures+s.Errors != failed || failed != int(finding.Block-failOn)+1 {
			t.Errorf("fail on %v: %+v", failOn, s)
		}
	}
}
