package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
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
	data, err := m.Encode()
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

func TestPostProcess(t *testing.T) {
	p, m := ready(t, "this")
	disk := filepath.Join(t.TempDir(), "disk.qcow2")
	if err := os.WriteFile(disk, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &packersdk.MockArtifact{BuilderIdValue: "some.builder", IdValue: "golden", FilesValue: []string{disk}, StringValue: "an image"}
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
	if b.Subject.Digest != m.Digest || b.Artifact.Builder != "some.builder" || b.Artifact.ID != "golden" || len(b.Artifact.Files) != 1 || b.Artifact.Files[0].Size != 3 {
		t.Errorf("%s", data)
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
