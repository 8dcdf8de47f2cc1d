package payload

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// containerdConfig is what files/containerd_conf.toml sets: the values that the
// operator's own file has for OpenShift 4.16 and later. docs/payload.md says what
// older ones have.
var containerdConfig = map[string]string{
	"version":          "2",
	"disabled_plugins": `["io.containerd.nri.v1.nri"]`,
	"root":             `'C:\ProgramData\containerd\root'`,
	"state":            `'C:\ProgramData\containerd\state'`,
	"grpc.address":     `'\\.\pipe\containerd-containerd'`,

	"cri.image_pull_progress_timeout":                          `"30m0s"`,
	"cri.sandbox_image":                                        `"mcr.microsoft.com/oss/kubernetes/pause:3.9"`,
	"cri.cni.bin_dir":                                          `'C:\k\cni'`,
	"cri.cni.conf_dir":                                         `'C:\k\cni\config'`,
	"cri.registry.config_path":                                 `'C:\k\containerd\registries'`,
	"cri.containerd.snapshotter":                               `"windows"`,
	"cri.containerd.default_runtime_name":                      `"runhcs-wcow-process"`,
	"cri.containerd.runtimes.runhcs-wcow-process.runtime_type": `"io.containerd.runhcs.v1"`,
}

// The carried file has these keys and no others.
func TestCarriedContainerdConfig(t *testing.T) {
	text, err := os.ReadFile("files/containerd_conf.toml")
	if err != nil {
		t.Fatal(err)
	}
	found, section := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		key, value, isKey := strings.Cut(line, " = ")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Replace(strings.Trim(line, "[]"), `plugins."io.containerd.grpc.v1.cri"`, "cri", 1) + "."
		case isKey && found[section+key] == "":
			found[section+key] = value
		default:
			t.Errorf("%q isn't a key that stands once with its value", line)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if want := containerdConfig[key]; found[key] != want {
			t.Errorf("%s = %s, want %s", key, found[key], want)
		}
	}
	for key := range containerdConfig {
		if found[key] == "" {
			t.Errorf("%s is missing", key)
		}
	}
}
