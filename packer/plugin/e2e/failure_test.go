//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/packer"
	"github.com/winbake/winbake/test/wine/winenode"
)

// TestBuildStops: whatever goes wrong in our step, the build says what, the
// machine is removed, and no record is left of an image that isn't.
func TestBuildStops(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(b *build)
		words []string
	}{
		"connection cut in an upload": {
			func(b *build) { b.node.CutAfter(1 << 20) },
			[]string{"the upload failed: ", "fix: see why the machine went away"},
		},
		"upload that loses its end": {
			func(b *build) { b.node.Truncate(100 << 10) },
			[]string{"verify.exe node check", "on the machine"},
		},
		"disk full": {
			func(b *build) { b.node.Space(8 << 20) },
			[]string{"the upload failed: ", "not enough space"},
		},
		"file changed after it was put there": {
			func(b *build) { b.vars["between"] = "printf X >> " + b.place(`C:\k\cni\win-bridge.exe`) },
			[]string{"the machine isn't what the payload says: 1 findings", `BLOCK WIN007 C:\k\cni\win-bridge.exe: sha256`},
		},
		"finding that nobody accepted": {
			func(b *build) { b.vars["accept"] = "[]" },
			[]string{"1 findings", "UNKNOWN WIN004 service csi-proxy", "add an ID to accept"},
		},
		"payload of another digest": {
			func(b *build) { b.vars["digest"] = "sha256:" + strings.Repeat("0", 64) },
			[]string{"the payload has changed: its digest is sha256:", "the build is held to sha256:0000"},
		},
		"payload without verify.exe": {
			func(b *build) {
				b.vars["payload"], b.vars["digest"] = tools(b.t).bare, ""
			},
			[]string{"there is no verify.exe, and the payload brings none", "bake payload --with-verify"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, v := small(t)
			stale := filepath.Join(b.dir, "windows.node.json")
			if err := os.WriteFile(stale, []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			c.spoil(b)
			b.fails(c.words...)
			v.onlyOriginal()
			b.noRecord("windows")
		})
	}
}

// TestRefusedBeforeAnything: what can be known without a machine is an error of
// packer validate.
func TestRefusedBeforeAnything(t *testing.T) {
	b := nullBuild(t, packer.Packers[0], winenode.Start(t, winenode.Options{}), "null.pkr.hcl")
	for name, c := range map[string]struct{ variable, value, want string }{
		"digest":  {"digest", "latest", `digest can't be "latest"`},
		"accept":  {"accept", `["WIN004","WIN999"]`, `accept has "WIN999", and no check has that ID`},
		"payload": {"payload", "", "payload is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			good := b.vars[c.variable]
			b.vars[c.variable] = c.value
			defer func() { b.vars[c.variable] = good }()
			out, err := b.run(t.Context(), "validate", "-evaluate-datasources")
			if err == nil || !strings.Contains(out, c.want) {
				t.Errorf("want %q, have %v\n%s", c.want, err, out)
			}
		})
	}
	if out, err := b.run(t.Context(), "validate"); err != nil {
		t.Errorf("packer validate: %v\n%s", err, out)
	}
}
