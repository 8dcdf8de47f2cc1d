package imagecheck

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

func check(t *testing.T, w Windows, profile string) []finding.Finding {
	t.Helper()
	found, err := Check(w, profile)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestRightAnswers(t *testing.T) {
	rows := map[string]int{"openshift": 38, "generic": 29}
	for _, profile := range Profiles {
		found := check(t, play(t), profile)
		for _, f := range found {
			if f.Severity != finding.Pass || f.Observed == "" {
				t.Errorf("%s: %+v", profile, f)
			}
		}
		if len(found) != rows[profile] {
			t.Errorf("%s asks %d rows, want %d", profile, len(found), rows[profile])
		}
	}
}

// TestWrongAnswers: each row fails for a wrong answer, and others don't.
func TestWrongAnswers(t *testing.T) {
	failed := map[string]bool{}
	for _, c := range load[struct {
		Row, Profile, Observed string
		Also                   []string
		Change                 []written
	}](t, "testdata/wrong.yaml") {
		if c.Profile == "" {
			c.Profile = OpenShift
		}
		w := play(t)
		for _, a := range c.Change {
			if _, known := w.answers[a.Ask]; !known {
				t.Errorf("%s: nobody asks %s", c.Row, a.Ask)
			}
			w.answers[a.Ask] = a
		}
		var wrong []string
		for _, f := range check(t, w, c.Profile) {
			if f.Severity == finding.Pass {
				continue
			}
			if wrong = append(wrong, f.ID); f.ID != c.Row {
				continue
			}
			failed[c.Profile+c.Row] = true
			if !strings.Contains(f.Observed, c.Observed) || f.Severity == finding.Unknown || f.Why == "" || f.Remedy == "" || f.Source == "" || f.Expected == "" {
				t.Errorf("%s: %+v", c.Row, f)
			}
		}
		if want := append([]string{c.Row}, c.Also...); !sameIDs(wrong, want) {
			t.Errorf("%s %s: %v are wrong, want %v", c.Row, c.Observed, wrong, want)
		}
	}
	for _, r := range Table {
		if !(r.OpenShift > 0 && failed[OpenShift+r.ID]) && !(r.Generic > 0 && failed[Generic+r.ID]) {
			t.Errorf("no wrong answer of %s is in testdata/wrong.yaml", r.ID)
		}
	}
}

func sameIDs(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// TestNoAnswer: what a row asks and Windows doesn't answer leaves no row right.
func TestNoAnswer(t *testing.T) {
	for _, r := range Table {
		w := play(t)
		q := &asked{Windows: w}
		if r.Ask(q); q.err != nil {
			t.Errorf("%s: %v", r.ID, q.err)
		}
		for _, question := range w.asked {
			w := play(t)
			w.refuse = question
			severity := max(r.OpenShift, r.Generic)
			if f := r.judge(w, severity); f.Severity != min(severity, finding.Unknown) || !strings.Contains(f.Observed, "refused") {
				t.Errorf("%s without an answer to %s: %+v", r.ID, question, f)
			}
		}
	}
	for _, profile := range Profiles {
		for _, f := range check(t, &played{}, profile) {
			if f.Severity != finding.Unknown && f.Severity != finding.Warn {
				t.Errorf("nothing is answered, and %s is %s", f.ID, f.Severity)
			}
		}
	}
}

// TestPlatforms: rows of a platform are for it alone, and on a cloud the first boot may
// do what the image lacks.
func TestPlatforms(t *testing.T) {
	for maker, want := range map[string][]string{
		"VMware, Inc.": {"image.vmware.service", "BLOCK"},
		"Amazon EC2":   {"image.node.ec2launch", "WARN"},
		"QEMU":         {"", "BLOCK"},
	} {
		w := play(t)
		w.answers[`value HKLM\HARDWARE\DESCRIPTION\System\BIOS\SystemManufacturer`] = written{Answer: maker}
		w.answers["service sshd"] = written{Absent: true}
		var special []string
		for _, f := range check(t, w, OpenShift) {
			if f.ID == "image.ssh.sshd" && f.Severity.String() != want[1] {
				t.Errorf("%s without sshd: %s", maker, f.Severity)
			}
			if f.ID == "image.node.ec2launch" || f.ID == "image.vmware.service" {
				special = append(special, f.ID)
			}
		}
		if strings.Join(special, " ") != want[0] {
			t.Errorf("%s: %v", maker, special)
		}
	}
}

// TestFirewall: what a rule says that isn't written in testdata.
func TestFirewall(t *testing.T) {
	const rules = `values ` + localFirewall + `\FirewallRules`
	for text, want := range map[string]string{
		`v2.31|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=22|RA4=10.0.0.0/255.0.0.0|`:                                              "some addresses",
		`v2.31|Action=Allow|Active=TRUE|Dir=In|Protocol=6|App=C:\a.exe|`:                                                                 "closed",
		`v2.31|Action=Allow|Active=TRUE|Dir=In|AppPkgId=S-1-15-2-1|`:                                                                     "closed",
		`v2.31|Action=Allow|Active=TRUE|Dir=In|Protocol=17|LPort=22|`:                                                                    "closed",
		`v2.31|Action=Allow|Active=TRUE|Dir=In|`:                                                                                         "open",
		"v2.31|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=22|\nv2.31|Action=Block|Active=TRUE|Dir=In|Protocol=6|LPort=22|":         "closed",
		"v2.31|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=22|\nv2.31|Action=Block|Active=TRUE|Dir=In|Protocol=6|App=C:\\a.exe|":    "open",
		"v2.31|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=22|\nv2.31|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=22|RA4=::1|": "open",
		"": "has no rule",
	} {
		w := play(t)
		w.answers[rules] = written{Answer: text}
		q := &asked{Windows: w}
		got := open(22)(q).Observed
		if q.err != nil {
			got = q.err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
	w := play(t)
	for _, n := range networks {
		w.answers["value "+localFirewall+`\`+n.key+`\EnableFirewall`] = written{Answer: "0"}
	}
	w.answers[rules] = written{Answer: "v2.31|Action=Allow|Active=TRUE|Dir=Out|"}
	q := &asked{Windows: w}
	if a := open(22)(q); q.err != nil || a.Wrong {
		t.Errorf("the firewall is off: %+v, %v", a, q.err)
	}
}

// TestBitLocker: a Windows without the feature has no drive that is encrypted, and
// what else fails is no answer.
func TestBitLocker(t *testing.T) {
	for out, want := range map[string]string{
		"HRESULT 0x8004100e,Microsoft.Management.Infrastructure.CimCmdlets.GetCimInstanceCommand": "the feature BitLocker isn't there",
		"HRESULT 0x80041003,Microsoft.Management.Infrastructure.CimCmdlets.GetCimInstanceCommand": "HRESULT 0x80041003",
		" \r\n": "PowerShell wrote nothing",
	} {
		w := play(t)
		w.answers["powershell Win32_EncryptableVolume"] = written{Answer: out}
		q := &asked{Windows: w}
		got := decrypted(q).Observed
		if q.err != nil {
			got = q.err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s", out, got)
		}
	}
}

func TestUnknownProfile(t *testing.T) {
	if _, err := Check(play(t), "byoh"); err == nil || !strings.Contains(err.Error(), "give one of openshift, generic") {
		t.Error(err)
	}
}
