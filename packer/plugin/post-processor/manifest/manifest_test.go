package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"

	"github.com/winbake/winbake/packer/plugin/internal/record"
)

// ready is a post-processor of a source called windows, in run, with the
// provisioner's manifest.
func ready(t *testing.T, run string) (*PostProcessor, *record.Manifest) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("PACKER_RUN_UUID", "this")
	m, err := record.New(record.Content{Payload: "sha256:1"}, record.Build{Run: run, Name: "windows"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := record.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Write("windows.node.json", data); err != nil {
		t.Fatal(err)
	}
	p := new(PostProcessor)
	if err := p.Configure(map[string]any{"packer_build_name": "windows"}); err != nil {
		t.Fatal(err)
	}
	return p, m
}

// An artifact with files, as qemu's builder has them: each is there by its sum.
func TestPostProcess(t *testing.T) {
	p, m := ready(t, "this")
	disk, vars := filepath.Join(t.TempDir(), "disk.qcow2"), filepath.Join(t.TempDir(), "efivars.fd")
	for name, content := range map[string]string{disk: "abc", vars: ""} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := &packersdk.MockArtifact{BuilderIdValue: "transcend.qemu", IdValue: "VM", FilesValue: []string{disk, vars}, StringValue: "VM files in directory: out"}
	out, keep, must, err := p.PostProcess(t.Context(), packersdk.TestUi(t), a)
	if err != nil || out != packersdk.Artifact(a) || !keep || !must {
		t.Fatalf("%v, %v, %v, %v", out, keep, must, err)
	}
	data, err := os.ReadFile("windows.winbake.json")
	if err != nil {
		t.Fatal(err)
	}
	var b record.Bound
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	want := record.Artifact{Builder: "transcend.qemu", ID: "VM", Description: "VM files in directory: out", Files: []record.LocalFile{
		{Name: disk, SHA256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", Size: 3},
		{Name: vars, SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	}}
	if !reflect.DeepEqual(b.Artifact, want) || b.Subject != (record.Subject{Digest: m.Digest, Payload: m.Content.Payload}) || !reflect.DeepEqual(b.Manifest.Build, m.Build) {
		t.Errorf("%s", data)
	}
}

// A file that the artifact speaks of and that isn't there can't be bound.
func TestPostProcessWithoutItsFile(t *testing.T) {
	p, _ := ready(t, "this")
	a := &packersdk.MockArtifact{FilesValue: []string{filepath.Join(t.TempDir(), "disk.qcow2")}}
	if _, _, _, err := p.PostProcess(t.Context(), packersdk.TestUi(t), a); err == nil || !strings.Contains(err.Error(), "hash the artifact's file") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat("windows.winbake.json"); err == nil {
		t.Error("a record was written")
	}
}

func TestPostProcessRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		run   string
		spoil func(t *testing.T)
		want  string
	}{
		"none": {"this", func(t *testing.T) {
			if err := os.Remove("windows.node.json"); err != nil {
				t.Fatal(err)
			}
		}, "there is no manifest"},
		"another build": {"other", func(*testing.T) {}, "the manifest is of another build"},
		"changed": {"this", func(t *testing.T) {
			data, err := os.ReadFile("windows.node.json")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile("windows.node.json", []byte(strings.Replace(string(data), "sha256:1", "sha256:2", 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "was changed after it was written"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := ready(t, c.run)
			c.spoil(t)
			_, _, _, err := p.PostProcess(t.Context(), packersdk.TestUi(t), &packersdk.MockArtifact{FilesValue: []string{}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, have %v", c.want, err)
			}
			if _, err := os.Stat("windows.winbake.json"); err == nil {
				t.Error("a record was written")
			}
		})
	}
}

func TestConfigureRefuses(t *testing.T) {
	if err := new(PostProcessor).Configure(map[string]any{"manifest": "a", "output": "a"}); err == nil {
		t.Error("the manifest may be written over")
	}
	if err := new(PostProcessor).Configure(map[string]any{"manifset": "a"}); err == nil {
		t.Error("an unknown key passes")
	}
}
