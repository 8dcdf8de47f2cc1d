package sbom

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/spdxlib"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/payload"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func image() *Image {
	return &Image{
		Digest: "sha256:" + sum, Release: "4.20", Created: time.Unix(1700000000, 0), Base: "sha256:" + strings.Repeat("b", 64),
		Built: []Built{
			{&pins.Component{Name: "csi-proxy", Module: "github.com/kubernetes-csi/csi-proxy", Version: "v1.3.0", Package: "./cmd/csi-proxy", Payload: "csi-proxy/csi-proxy.exe"},
				&pins.Locked{Sum: "h1:own=", Toolchain: "go1.26.8", ToolchainSums: []string{"linux-amd64 h1:go="}, Modules: []pins.LockedModule{
					{Path: "github.com/kubernetes-csi/csi-proxy", Version: "v1.3.0", Sum: "h1:own=", Licenses: []string{"Apache-2.0"}},
					{Path: "github.com/Microsoft/go-winio", Version: "v0.6.2", Sum: "h1:winio=", Licenses: []string{"MIT"}},
					{Path: "github.com/old/x", Version: "v1.0.0", Replace: &pins.ModuleVersion{Path: "github.com/new/x", Version: "v2.0.0+incompatible"}, Sum: "h1:x=", Licenses: []string{"NOASSERTION"}},
				}}, sum},
			{&pins.Component{Name: "win-bridge", Git: "https://github.com/containernetworking/plugins", Commit: strings.Repeat("c", 40), Package: "./plugins/main/windows/win-bridge", Payload: "cni/win-bridge.exe"},
				&pins.Locked{Commit: strings.Repeat("c", 40), MainModule: "github.com/containernetworking/plugins", Toolchain: "go1.26.8", Modules: []pins.LockedModule{
					{Path: "github.com/containernetworking/plugins", Version: "(devel)", Licenses: []string{"Apache-2.0", "MIT"}},
					{Path: "github.com/Microsoft/go-winio", Version: "v0.6.2", Sum: "h1:winio=", Licenses: []string{"MIT"}},
				}}, strings.Repeat("d", 64)},
			{&pins.Component{Name: "conf", File: "containerd_conf.toml", Payload: "containerd/containerd_conf.toml"}, &pins.Locked{SHA256: strings.Repeat("e", 64)}, strings.Repeat("e", 64)},
		},
		Kept: []payload.KeptFile{{Path: "hybrid-overlay-node.exe", SHA256: strings.Repeat("f", 64), Base: "sha256:" + strings.Repeat("b", 64)}},
	}
}

func TestGolden(t *testing.T) {
	for _, f := range []Format{SPDX, CycloneDX} {
		got, err := f.Encode(image())
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", "payload"+f.Suffix())
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from %s (go test -args -update): %v", f, golden, err)
		}
	}
}

// The documents are held to their formats' own rules.
func TestValid(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	schemas := filepath.Join(strings.TrimSpace(string(dir)), "schema")
	c := jsonschema.NewCompiler()
	for name, file := range map[string]string{"spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json", "bom-1.6.schema.json": "bom-1.6.schema.json"} {
		data, err := os.ReadFile(filepath.Join(schemas, file))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("http://cyclonedx.org/schema/"+name, doc); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	data, err := CycloneDX.Encode(image())
	if err != nil {
		t.Fatal(err)
	}
	validate := func(data []byte) error {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
	if err := validate(data); err != nil {
		t.Error(err)
	}
	if validate(bytes.Replace(data, []byte(`"library"`), []byte(`"book"`), 1)) == nil {
		t.Error("the schema takes anything")
	}

	if data, err = SPDX.Encode(image()); err != nil {
		t.Fatal(err)
	}
	var doc spdx.Document
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if err := spdxlib.ValidateDocument(&doc); err != nil {
		t.Error(err)
	}
	ids := map[string]bool{}
	for _, p := range doc.Packages {
		if ids[string(p.PackageSPDXIdentifier)] {
			t.Errorf("%s is there twice", p.PackageSPDXIdentifier)
		}
		ids[string(p.PackageSPDXIdentifier)] = true
	}
	if len(doc.Packages) != 11 { // image, base, stdlib, four modules of which two programs share one, 2 programs, 2 files
		t.Errorf("%d packages", len(doc.Packages))
	}
}

func TestRead(t *testing.T) {
	for _, f := range []Format{SPDX, CycloneDX} {
		data, err := f.Encode(image())
		if err != nil {
			t.Fatal(err)
		}
		d, err := Read(data)
		if err != nil || d.Digest != "sha256:"+sum || len(d.Files) != 4 || d.Files["csi-proxy/csi-proxy.exe"] != sum {
			t.Errorf("%s: %+v, %v", f, d, err)
		}
		for _, purl := range []string{"pkg:golang/github.com/microsoft/go-winio@v0.6.2", "pkg:golang/stdlib@1.26.8", "pkg:golang/github.com/new/x@v2.0.0%2Bincompatible",
			"pkg:golang/github.com/kubernetes-csi/csi-proxy@v1.3.0#cmd/csi-proxy", "pkg:golang/github.com/kubernetes-csi/csi-proxy@v1.3.0"} {
			if !d.PURLs[purl] {
				t.Errorf("%s has no %s", f, purl)
			}
		}
	}
	for _, bad := range []string{"", "[]", "{}", `{"spdxVersion":"SPDX-2.2"}`, `{"bomFormat":"CycloneDX","components":7}`, strings.Repeat(" ", MaxSize+1)} {
		if _, err := Read([]byte(bad)); err == nil {
			t.Errorf("%.40q is read", bad)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, format := range []Format{SPDX, CycloneDX} {
		data, err := format.Encode(image())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := Read(data); err == nil && d.Files == nil {
			t.Error("nil files")
		}
	})
}
