package release

import (
	"reflect"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/image/oci"
)

const referencesYAML = `kind: ImageStream
apiVersion: image.openshift.io/v1
metadata:
  name: 4.20.3
spec:
  tags:
  - name: vsphere-csi-driver
    from:
      kind: DockerImage
      name: mirror.example:5000/ocp/release:4.20.3-vsphere-csi-driver
  - name: no-image
    annotations:
      io.openshift.build.commit.id: 61d0d00
`

// infoText is what `oc adm release info` prints, with the given table.
func infoText(table string) string {
	return `Name:           4.20.3
Digest:         sha256:` + strings.Repeat("0", 64) + `
Created:        2025-11-20T10:00:00Z
OS/Arch:        linux/amd64
Manifests:      900
Metadata files: 2

Pull From: quay.io/openshift-release-dev/ocp-release@sha256:` + strings.Repeat("0", 64) + `

Release Metadata:
  Version:  4.20.3
  Upgrades: 4.19.12, 4.20.1, 4.20.2
  Metadata:
    url: https://access.redhat.com/errata/RHSA-2025:1

Component Versions:
  kubectl    1.33.5               
  kubernetes 1.33.5               
  machine-os 9.6.20251119-0 Red Hat Enterprise Linux CoreOS

Images:
` + table + "\n"
}

func commitTable() string {
	return `  NAME                REPO                                                     COMMIT
  hyperkube           https://github.com/openshift/kubernetes                  ` + kubeCommit + `
  nothing             
  vsphere-csi-driver  https://github.com/openshift/vmware-vsphere-csi-driver   ` + vsphereCommit + "\n"
}

// strip leaves of the tags of references only what a form carries.
func strip(change func(*inventory.PayloadTag)) []inventory.PayloadTag {
	tags := wantTags()
	for i := range tags {
		tags[i].Kubernetes = ""
		change(&tags[i])
	}
	return tags
}

func TestParse(t *testing.T) {
	noImage := strip(func(t *inventory.PayloadTag) { t.Image = inventory.Image{} })
	withEmpty := []inventory.PayloadTag{noImage[0], {Name: "nothing"}, noImage[1]}
	yamlTags := []inventory.PayloadTag{{Name: "no-image"}, {Name: "vsphere-csi-driver", Image: inventory.Image{
		Reference:  "mirror.example:5000/ocp/release:4.20.3-vsphere-csi-driver",
		Repository: "mirror.example:5000/ocp/release", Tag: "4.20.3-vsphere-csi-driver",
	}}}
	info := `{"image": "quay.io/x", "metadata": {"version": "4.20.3"}, "references": ` + references() + `, "versions": {"kubernetes": "1.33.5"}}`
	tests := []struct {
		name, src string
		tags      []inventory.PayloadTag
		kube      string
		where     string
	}{
		{"json", references(), wantTags(), "1.33.5", "f"},
		{"json with a byte order mark", "\ufeff" + references(), wantTags(), "1.33.5", "f"},
		{"info -o json", info, wantTags(), "1.33.5", "f"},
		{"yaml", referencesYAML, yamlTags, "", "f"},
		{"info --commits", infoText(commitTable()), withEmpty, "1.33.5", "f:11"},
		{"CRLF", strings.ReplaceAll(infoText(commitTable()), "\n", "\r\n"), withEmpty, "1.33.5", "f:11"},
		{"release.txt of a download server", "Client tools for OpenShift\n--------------------------\n\nThese archives contain the client tooling.\n\n---\n\n" + infoText(commitTable()), withEmpty, "1.33.5", "f:18"},
		{"info with warnings", infoText(commitTable()) + "Warnings:\n* multiple versions\n", withEmpty, "1.33.5", "f:11"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Parse("f", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if p.Version != "4.20.3" || p.Kubernetes != tt.kube || p.At.Where != tt.where {
				t.Errorf("version %q, Kubernetes %q, at %q", p.Version, p.Kubernetes, p.At.Where)
			}
			if !reflect.DeepEqual(p.Tags, tt.tags) {
				t.Errorf("tags %+v\nwant %+v", p.Tags, tt.tags)
			}
		})
	}
}

// A table alone names no release, which Read allows while it has commits.
func TestParseBareTable(t *testing.T) {
	p, err := Parse("f", []byte(commitTable()))
	if err != nil || len(p.Tags) != 3 || p.Version != "" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, _, err := Read(t.Context(), file(t, "release.txt", commitTable()), oci.Options{}); err != nil {
		t.Error(err)
	}
}

func TestParseFaults(t *testing.T) {
	lines := strings.SplitAfter(infoText(commitTable()), "\n")
	tests := []struct {
		name, src string
		want      []string
	}{
		{"empty", "", []string{"f: empty"}},
		{"blank", " \n\n", []string{"f: empty"}},
		{"cut json", references()[:600], []string{"f:", "cut off"}},
		{"json of another shape", `{"spec": {"tags": 5}}`, []string{"f: not an ImageStream"}},
		{"json array", `[1]`, []string{"f: not an ImageStream"}},
		{"prose", "hello world\n", []string{"f: not an ImageStream"}},
		{"html", "<!DOCTYPE html>\n<html>", []string{"f: "}},
		{"cyclic yaml", "a: &a [*a]\nkind: ImageStream\n", []string{"f: "}},
		{"another kind", "kind: List\nitems: []\n", []string{"a List, not an ImageStream"}},
		{"no tags", "kind: ImageStream\nmetadata: {name: 1.0.0-abc}\n", []string{"lists no images"}},
		{"nameless tag", "kind: ImageStream\nspec: {tags: [{name: a}, {}]}\n", []string{"spec.tags[1] has no name"}},
		{"one tag twice", "kind: ImageStream\nspec: {tags: [{name: a}, {name: a}]}\n", []string{"lists a twice"}},
		{"info without images", strings.Join(lines[:18], ""), []string{"ends before its list of images"}},
		{"cut commit", strings.TrimSpace(infoText(commitTable()))[:len(strings.TrimSpace(infoText(commitTable())))-5], []string{"f:25", "not a whole row", "25 | vsphere-csi-driver"}},
		{"digests", infoText("  NAME DIGEST\n  hyperkube " + kubeDigest + "\n"), []string{"f:22", "a table without commits"}},
		{"pull specs", "NAME PULL SPEC\n a quay.io/a/b\n", []string{"f:1", "a table without commits"}},
		{"URLs", "NAME URL\n a https://x/commit/1\n", []string{"f:1", "a table without commits"}},
		{"too many cells", "NAME REPO COMMIT\n a b c d\n", []string{"f:2", "not a whole row"}},
		{"sizes", "Name: 4.20.3\n\nImages:\n  NAME  AGE  LAYERS  SIZE MB  UNIQUE MB  BASE\n", []string{"f:4", "a table without commits"}},
		{"two releases", infoText(commitTable()) + infoText(commitTable()), []string{"f:27", "a second release"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Parse("f", []byte(tt.src))
			if err == nil {
				t.Fatalf("%+v", p)
			}
			wantFault(t, err, append(tt.want, "oc adm release info")...)
		})
	}
}

func TestKubernetesOf(t *testing.T) {
	for list, want := range map[string]string{
		"kubernetes=1.33.5":                          "1.33.5",
		"kubectl=1.33.4, kubernetes=1.33.5":          "1.33.5",
		"kubernetes=1.33.5,kubernetes=1.33.5":        "1.33.5",
		"kubernetes=1.33.5,kubernetes=1.33.4":        "",
		"machine-os=9.6,machine-os=10.0,,kubernetes": "",
		"": "",
	} {
		if got := kubernetesOf(list); got != want {
			t.Errorf("kubernetesOf(%q) = %q, want %q", list, got, want)
		}
	}
	if p, err := finish(inventory.Payload{Tags: []inventory.PayloadTag{{Name: "a", Kubernetes: "1.33.5"}, {Name: "b"}, {Name: "c", Kubernetes: "1.33.4"}}}); err != nil || p.Kubernetes != "" {
		t.Errorf("two tags that differ give %q", p.Kubernetes)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{references(), referencesYAML, infoText(commitTable()), commitTable(), "NAME URL\n a https://x/commit/1", "Name:\n", "a: &a [*a]", "{"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Parse("f", src)
		if err != nil {
			wantFault(t, err, "f")
			return
		}
		if len(p.Tags) == 0 {
			t.Error("no tags and no fault")
		}
		for i, tag := range p.Tags {
			if tag.Name == "" || i > 0 && p.Tags[i-1].Name >= tag.Name {
				t.Errorf("tags aren't named and sorted: %+v", p.Tags)
			}
			if tag.Commit != "" && len(tag.Commit) != 40 && len(tag.Commit) != 64 {
				t.Errorf("half a commit: %q", tag.Commit)
			}
		}
	})
}
