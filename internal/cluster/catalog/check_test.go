package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

// badOverlays are overlays with one mistake. It is told to be at the mark, which
// isn't part of the text.
var badOverlays = []struct{ name, text, what string }{
	{"unknown field", "¦drivrs: []", `unknown key "drivrs" in the catalog`},
	{"unknown field inside", "commits:\n  - {driver: smb, ¦sha: x}", `unknown key "sha"`},
	{"twice", "digests: []\n¦digests: []", `key "digests" stands here twice`},
	{"number for a string", "releases:\n  - openshift: ¦4.10", "YAML reads 4.10 as the number 4.1, not as a string"},
	{"nothing for a string", "asOf:¦", "the value is missing"},
	{"string for a number", "releases:\n  - {openshift: \"4.20\", kubeletSkew: ¦two}", "must be a whole number"},
	{"string for a truth", "drivers:\n  - {name: x, olm: ¦yes}", "must be true or false"},
	{"list for fields", "drivers:\n  - ¦[x]", "must be a mapping"},
	{"fields for a list", "drivers: ¦{}", "must be a list of drivers"},
	{"list for a value", "asOf: ¦[x]", "must be a string"},
	{"alias", "drivers: &a []\nreleases: ¦*a", "aliases aren't supported"},
	{"merge", "¦<<: {}", `unknown key "<<"`},
	{"second document", "asOf: \"2026-08-31\"\n---\n¦asOf: x", "a second document; catalog data has one"},
	{"no YAML", "¦drivers: [", "it isn't YAML"},
	{"no YAML, in the middle", "drivers:\n¦\t- x", "it isn't YAML"},
	{"day", "asOf: ¦tomorrow", `asOf "tomorrow" is no day`},

	{"digest", "digests:\n  - {digest: ¦abc, driver: smb, version: 1.0.0}", `"abc" is no digest`},
	{"digest's driver", "digests:\n  - {digest: \"sha256:" + zeros + "\", driver: ¦nfs, version: 1.0.0}", `there is no driver "nfs"`},
	{"digest's version", "digests:\n  - {digest: \"sha256:" + zeros + "\", driver: smb, version: ¦latest}", `"latest" is no version`},
	{"digest twice", "digests:\n  - {digest: \"sha256:" + zeros + "\", driver: smb, version: 1.0.0}\n  - ¦{digest: \"sha256:" + zeros + "\", driver: smb, version: 1.1.0}", "this row is there twice"},
	{"commit", "commits:\n  - {driver: smb, commit: ¦123abc, version: 1.0.0}", `"123abc" is no commit`},
	{"commit's release", "commits:\n  - {driver: smb, commit: abcdefabcdef, version: 1.0.0, openshift: ¦\"4.2\"}", `there is no release "4.2"`},

	{"driver without evidence", "drivers:\n  - ¦{name: x, title: X, provisioner: x.example}", "this has no evidence"},
	{"evidence without source", "drivers:\n  - {name: x, title: X, provisioner: x.example, evidence: [¦{note: trust me}]}", "this evidence has no source"},
	{"driver without provisioner", "drivers:\n  - ¦{name: x, title: X, evidence: [{source: x}]}", "provisioner is missing"},
	{"provisioner taken", "drivers:\n  - {name: x, title: X, provisioner: ¦smb.csi.k8s.io, evidence: [{source: x}]}", `another driver has the provisioner "smb.csi.k8s.io" too`},
	{"line backwards", driver + "[{from: 1.2.0, until: ¦1.2.0, hostProcess: none, evidence: [{source: x}]}]", "the line ends at 1.2.0, before it begins at 1.2.0"},
	{"line's version", driver + "[{from: ¦newest, hostProcess: none, evidence: [{source: x}]}]", `"newest" is no version`},
	{"line's mode", driver + "[{from: 1.0.0, hostProcess: ¦maybe, evidence: [{source: x}]}]", `hostProcess can't be "maybe"`},
	{"line without evidence", driver + "[¦{from: 1.0.0, hostProcess: none}]", "this has no evidence"},
	{"line's flag", driver + "[{from: 1.0.0, hostProcess: optional, flag: ¦-hp, evidence: [{source: x}]}]", "a flag begins with two dashes"},
	{"gap", driver + "[{from: 1.0.0, until: 1.1.0, hostProcess: none, evidence: [{source: x}]}, {from: ¦1.2.0, hostProcess: none, evidence: [{source: x}]}]", "the line before ends at 1.1.0 and this one begins at 1.2.0"},
	{"overlap", driver + "[{from: 1.0.0, until: 1.3.0, hostProcess: none, evidence: [{source: x}]}, {from: ¦1.2.0, hostProcess: none, evidence: [{source: x}]}]", "the line before ends at 1.3.0 and this one begins at 1.2.0"},
	{"open in the middle", driver + "[¦{from: 1.0.0, hostProcess: none, evidence: [{source: x}]}, {from: 1.2.0, hostProcess: none, evidence: [{source: x}]}]", "the line from 1.0.0 has no end, and another follows"},
	{"group", driver + "[{from: 1.0.0, hostProcess: none, api: [{group: ¦nfs, versions: [v1]}], evidence: [{source: x}]}]", `csi-proxy has no group "nfs"`},
	{"group's version", driver + "[{from: 1.0.0, hostProcess: none, api: [{group: smb, versions: [¦1]}], evidence: [{source: x}]}]", "YAML reads 1 as a whole number"},
	{"group's version is none", driver + "[{from: 1.0.0, hostProcess: none, api: [{group: smb, versions: [¦v1gamma1]}], evidence: [{source: x}]}]", `"v1gamma1" is no API version`},
	{"group without versions", driver + "[{from: 1.0.0, hostProcess: none, api: [¦{group: smb}], evidence: [{source: x}]}]", "the versions are missing"},
	{"pipes of a HostProcess", driver + "[{from: 1.0.0, hostProcess: mandatory, api: ¦[{group: smb, versions: [v1]}], evidence: [{source: x}]}]", "a line that must be a HostProcess container dials no csi-proxy"},

	{"published nowhere", published + "[¦{from: 1.0.0, evidence: [{source: x}]}]", "0 of manifest, render and deploys are given"},
	{"published in two ways", published + "[¦{from: 1.0.0, manifest: unknown, render: helm, evidence: [{source: x}]}]", "2 of manifest, render and deploys are given"},
	{"published without evidence", published + "[¦{from: 1.0.0, manifest: unknown}]", "this has no evidence"},
	{"published at no URL", published + "[{from: 1.0.0, manifest: ¦docs, evidence: [{source: x}]}]", `"docs" is no URL with {{version}} in it`},
	{"published for one version", published + "[{from: 1.0.0, manifest: ¦\"https://x.example/1.0.0\", evidence: [{source: x}]}]", `"https://x.example/1.0.0" is no URL with {{version}} in it`},
	{"published twice", published + "[{from: 1.0.0, manifest: unknown, evidence: [{source: x}]}, {from: ¦1.2.0, manifest: unknown, evidence: [{source: x}]}]", "the row from 1.0.0 holds this version already"},
	{"published backwards", published + "[{from: 1.2.0, until: ¦1.1.0, manifest: unknown, evidence: [{source: x}]}]", "the row ends at 1.1.0, before it begins at 1.2.0"},
	{"published but for what", published + "[{from: 1.2.0, manifest: unknown, missing: [¦some], evidence: [{source: x}]}]", `"some" is no version`},
	{"published as an image", published + "[{from: 1.2.0, manifest: unknown, repository: ¦\"x.example/a:v1\", evidence: [{source: x}]}]", `"x.example/a:v1" is no repository`},
	{"published once as another image", published + "[{from: 1.2.0, manifest: unknown, former: [¦\"x.example/a:1\"], evidence: [{source: x}]}]", `"x.example/a:1" is no repository`},
	{"published as another image", published + "[{from: 1.2.0, manifest: unknown, also: [¦\"x.example/a@sha256\"], evidence: [{source: x}]}]", `"x.example/a@sha256" is no repository`},

	{"no minor", "releases:\n  - {openshift: ¦\"4.20.1\", kubernetes: \"1.33\", kubeletSkew: 1, evidence: [{source: x}]}", `"4.20.1" is no minor of OpenShift`},
	{"no Kubernetes", "releases:\n  - ¦{openshift: \"5.1\", kubeletSkew: 1, evidence: [{source: x}]}", "kubernetes is missing"},
	{"no skew", "releases:\n  - ¦{openshift: \"5.1\", kubernetes: \"1.37\", evidence: [{source: x}]}", "a kubelet can't lag 0 minors behind"},
	{"edge to nowhere", "releases:\n  - {openshift: \"5.0\", next: [¦\"5.1\"]}", `there is no release "5.1"`},
	{"edge back", "releases:\n  - {openshift: \"5.0\", next: [¦\"4.22\"]}", "4.22 isn't newer than 5.0"},
	{"unknown driver", shipped + "nfs: ¦[]}}", `there is no driver "nfs"`},
	{"nothing shipped", shipped + "smb: ¦[]}}", "there is no version"},
	{"no certainty", shipped + "smb: [¦{version: 1.2.3, evidence: [{source: x}]}]}}", "certainty is missing"},
	{"no evidence", shipped + "smb: [¦{version: 1.2.3, certainty: exact}]}}", "this has no evidence"},
	{"unknown without a note", shipped + "smb: [¦{version: \"\", certainty: default, evidence: [{source: x}]}]}}", "the version isn't known, and no note says why"},
	{"patches backwards", shipped + "smb: [¦{version: 1.2.3, fromZ: 3, untilZ: 2, certainty: range, evidence: [{source: x}]}]}}", "the last patch, 2, is before the first, 3"},
	{"no day", shipped + "smb: [{version: 1.2.3, certainty: default, head: ¦yesterday, evidence: [{source: x}]}]}}", `head "yesterday" is no day`},
	{"negative patch", shipped + "smb: [¦{version: 1.2.3, fromZ: -3, certainty: range, evidence: [{source: x}]}]}}", "a patch can't be below 0"},
	{"patches with a gap", shipped + "smb: [{version: 1.2.3, untilZ: 2, certainty: range, evidence: [{source: x}]}, ¦{version: 1.2.4, fromZ: 4, certainty: range, evidence: [{source: x}]}]}}", "the row before ends at patch 2 and this one begins at 4"},
	{"patches twice", shipped + "smb: [{version: 1.2.3, certainty: range, evidence: [{source: x}]}, ¦{version: 1.2.4, fromZ: 4, certainty: range, evidence: [{source: x}]}]}}", "two rows hold for the same patches"},
	{"managed by whom", "releases:\n  - {openshift: \"5.0\", windowsManaged: [¦nfs]}", `there is no driver "nfs"`},

	{"csi-proxy's version", "csiProxy:\n  - {version: ¦next, date: \"2026-01-01\", groups: [disk-v1], evidence: [{source: x}]}", `"next" is no version`},
	{"csi-proxy's day", "csiProxy:\n  - {version: 1.4.0, date: ¦\"2026-13-01\", groups: [disk-v1], evidence: [{source: x}]}", `"2026-13-01" is no day`},
	{"csi-proxy's group", "csiProxy:\n  - {version: 1.4.0, date: \"2026-10-01\", groups: [¦disk], evidence: [{source: x}]}", `"disk" is no group with its version`},
	{"csi-proxy without groups", "csiProxy:\n  - ¦{version: 1.4.0, date: \"2026-10-01\", evidence: [{source: x}]}", "the groups are missing"},
	{"csi-proxy's commit", "csiProxy:\n  - {version: 1.4.0, commit: ¦main, date: \"2026-10-01\", groups: [disk-v1], evidence: [{source: x}]}", `"main" is no commit`},

	{"WMCO's version", "wmco:\n  - {from: ¦newest, openshift: \"5.0\", csiProxy: 1.3.0, evidence: [{source: x}]}", `"newest" is no version`},
	{"WMCO's release", "wmco:\n  - {from: 12.0.0, openshift: ¦\"6.0\", csiProxy: 1.3.0, evidence: [{source: x}]}", `there is no release "6.0"`},
	{"WMCO's csi-proxy", "wmco:\n  - {from: 12.0.0, openshift: \"5.0\", csiProxy: ¦1.9.0, evidence: [{source: x}]}", `there is no csi-proxy "1.9.0"`},
	{"WMCO backwards", "wmco:\n  - {from: 12.0.0, until: ¦11.9.0, openshift: \"5.0\", csiProxy: 1.3.0, evidence: [{source: x}]}", "the range ends at 11.9.0, before it begins at 12.0.0"},
	{"WMCO overlaps", "wmco:\n  - {from: ¦10.20.1, until: 10.21.0, openshift: \"4.20\", csiProxy: 1.3.0, evidence: [{source: x}]}", "the range from 10.20.0 holds this version already"},

	{"operator's release", "operators:\n  - {openshift: ¦\"6.0\", start: \"a/b@c:d#L1\", configure: \"a/b@c:d#L1\"}", `there is no release "6.0"`},
	{"operator without a list", "operators:\n  - ¦{openshift: \"5.0\", start: \"a/b@c:d#L1\"}", "configure is missing"},
	{"operator's list without lines", "operators:\n  - {openshift: \"5.0\", start: \"a/b@c:d#L1\", configure: ¦\"a/b@c:d\"}", `"a/b@c:d" names no lines of a file`},
	{"payload file outside", "payload:\n  - {path: ¦../x.exe, when: start, from: \"5.0\", evidence: [{source: x}]}", `"../x.exe" is no file of a payload`},
	{"payload file's archive", "payload:\n  - {path: ¦x.exe.tar.gz, when: start, from: \"5.0\", evidence: [{source: x}]}", `"x.exe.tar.gz" is no file of a payload`},
	{"payload file's time", "payload:\n  - {path: x.exe, when: ¦later, from: \"5.0\", evidence: [{source: x}]}", `when can't be "later"`},
	{"payload file from nowhere", "payload:\n  - {path: x.exe, when: start, from: ¦\"6.0\", evidence: [{source: x}]}", `there is no release "6.0"`},
	{"payload file backwards", "payload:\n  - {path: x.exe, when: start, from: \"5.0\", until: ¦\"4.23\", evidence: [{source: x}]}", "the range ends at 4.23, before it begins at 5.0"},
	{"payload file's platform", "payload:\n  - {path: x.exe, when: start, from: \"5.0\", platforms: [AWS, ¦aws], evidence: [{source: x}]}", `there is no platform "aws"`},
	{"payload file's nodes", "payload:\n  - {path: x.exe, when: start, from: \"5.0\", nodes: [¦Linux], evidence: [{source: x}]}", `there is no platform "Linux"`},
	{"payload file without evidence", "payload:\n  - ¦{path: x.exe, when: start, from: \"5.0\"}", "this has no evidence"},
	{"payload file twice", "payload:\n  - {path: cni/host-local.exe, when: start, from: ¦\"4.20\", evidence: [{source: x}]}", "the row from 4.12 holds this release already"},

	{"pair's range", "incompatible:\n  - {id: x, driver: smb, linux: ¦newer, windows: \"<1.0.0\", severity: WARN, why: x, remedy: x, when: before, evidence: [{source: x}]}", `"newer" is no range of versions`},
	{"pair's severity", "incompatible:\n  - {id: x, driver: smb, linux: \">1.0.0\", windows: \"<1.0.0\", severity: ¦PASS, why: x, remedy: x, when: before, evidence: [{source: x}]}", `severity can't be "PASS"`},
	{"pair's moment", "incompatible:\n  - {id: x, driver: smb, linux: \">1.0.0\", windows: \"<1.0.0\", severity: WARN, why: x, remedy: x, when: ¦never, evidence: [{source: x}]}", `when can't be "never"`},
	{"pair without remedy", "incompatible:\n  - ¦{id: x, driver: smb, linux: \">1.0.0\", windows: \"<1.0.0\", severity: WARN, why: x, when: before, evidence: [{source: x}]}", "remedy is missing"},
	{"migration's plugin", "migration:\n  - {inTree: ¦kubernetes.io/cinder, openshift: \"4.20\", linux: \"off\", windows: \"off\", evidence: [{source: x}]}", `no driver has the in-tree name "kubernetes.io/cinder"`},
	{"migration's state", "migration:\n  - {inTree: kubernetes.io/gce-pd, openshift: \"4.20\", linux: \"off\", windows: ¦soon, evidence: [{source: x}]}", `windows can't be "soon"`},
	{"gate's key", "gates:\n  - {key: ¦ok, from: \"4.20\", to: \"4.21\", applies: always, evidence: [{source: x}]}", `"ok" is no key of an acknowledgement`},
	{"gate's end", "gates:\n  - {key: ack-4.20-x, from: \"4.20\", to: ¦\"4.99\", applies: always, evidence: [{source: x}]}", `there is no release "4.99"`},
}

// mark stands before what an error points at.
const mark = "¦"

const (
	zeros     = "0000000000000000000000000000000000000000000000000000000000000000"
	driver    = "drivers:\n  - name: x\n    title: X\n    provisioner: x.example\n    evidence: [{source: x}]\n    lines: "
	published = "drivers:\n  - name: x\n    title: X\n    provisioner: x.example\n    evidence: [{source: x}]\n    published: "
	shipped   = "releases:\n  - {openshift: \"4.20\", drivers: {"
)

func TestBadOverlays(t *testing.T) {
	for _, tc := range badOverlays {
		t.Run(tc.name, func(t *testing.T) {
			before, after, _ := strings.Cut(head+tc.text, mark)
			where := fmt.Sprintf("dir/o.yaml:%d:%d", 1+strings.Count(before, "\n"), len(before)-strings.LastIndex(before, "\n"))
			_, err := LoadWith(Overlay{"dir/o.yaml", []byte(before + after)})
			var f *fault.Error
			if !errors.As(err, &f) {
				t.Fatalf("%v is no fault", err)
			}
			if f.Where != where || !strings.HasPrefix(f.What, tc.what) {
				t.Errorf("%s: %s\nwant %s: %s", f.Where, f.What, where, tc.what)
			}
			if f.Fix == "" {
				t.Error("nothing says how to fix it")
			}
		})
	}
}

func TestBadHeads(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "o.yaml: the file is empty",
		"# nothing":                  "o.yaml: the file is empty",
		"---\n":                      "o.yaml: the file is empty",
		"digests: []":                "o.yaml:1:1: apiVersion is missing",
		"apiVersion: v1\nasOf: x":    `o.yaml:1:13: apiVersion "v1" isn't known`,
		"kind: DaemonSet":            `o.yaml:1:7: kind "DaemonSet" isn't known`,
		"just text":                  "o.yaml:1:1: the catalog must be a mapping (key: value)",
		"\x00":                       "o.yaml: it isn't YAML",
		"apiVersion: \"a\x1b[31mb\"": "o.yaml: it isn't YAML",
	} {
		_, err := LoadWith(Overlay{"o.yaml", []byte(text)})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestWords: all of an error as a person reads it, and the first of several.
func TestWords(t *testing.T) {
	_, err := LoadWith(
		Overlay{"first.yaml", []byte(head + "digests:\n  - {digest: abc, driver: smb, version: 1.0.0}\n")},
		Overlay{"second.yaml", []byte(head + "releases:\n  - openshift: \"5.0\"\n    next: [\"5.7\"]\r\n\n    windowsManaged: [nfs]\n")})
	want := `second.yaml:4:12: there is no release "5.7" (there are 2 more mistakes)
    4 |     next: ["5.7"]
      |            ^
fix: write a minor of the section releases, such as "4.20"`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}
