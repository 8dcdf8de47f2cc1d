// Package operator bakes payloads onto operator images and reads them back with
// the rules of the Windows Machine Config Operator. The images are played: their
// files have made-up contents. Nothing here shares code with what it judges.
package operator

import (
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/test/support/program"
)

var programs = program.Folder{Commands: []string{"bake", "verify"}}

// operators are played: what they ask for changed with 4.17 and 4.21.
var operators = []operator{newOperator("4.15", "v10.15.4"), newOperator("4.20", "v10.20.2"), newOperator("4.21", "v10.21.2"), newOperator("5.0", "v11.0.0")}

func TestMain(m *testing.M) { programs.Main(m) }

// likeDefault writes pins that put files of made-up content where those of this
// repository go.
func likeDefault(t *testing.T, release, base string) (file string, bodies map[string]string) {
	t.Helper()
	from := "../../../versions.yaml"
	if release == "4.15" {
		from = "../../../examples/openshift-4.15/versions.yaml"
	}
	set, err := pins.Load(from)
	if err != nil {
		t.Fatal(err)
	}
	file, bodies = filepath.Join(t.TempDir(), "versions.yaml"), map[string]string{}
	text := fmt.Sprintf("apiVersion: winbake.dev/v1\nrelease: %q\ngo: local\n%scomponents:\n", release, base)
	for _, c := range set.Components {
		bodies[c.Payload] = "pinned " + c.Payload
		writeFile(t, filepath.Join(filepath.Dir(file), "files", c.Name), bodies[c.Payload])
		text += fmt.Sprintf("  - {name: %s, file: files/%s, sha256: %s, payload: %s}\n", c.Name, c.Name, sum([]byte(bodies[c.Payload])), c.Payload)
	}
	writeFile(t, file, text)
	return file, bodies
}

// run runs a command in the folder of the pins.
func run(t *testing.T, pins, name string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := programs.Command(t, name, args...)
	cmd.Dir = filepath.Dir(pins)
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), log.String(), cmd.ProcessState.ExitCode()
}

func mustBake(t *testing.T, pins string, args ...string) (stdout, stderr string) {
	t.Helper()
	out, log, code := run(t, pins, "bake", args...)
	if code != 0 {
		t.Fatalf("bake %s: exit code %d\n%s\n%s", strings.Join(args, " "), code, out, log)
	}
	return out, log
}

// works is nil when the operator starts and configures nodes of every cloud
// with the files that it should.
func (o operator) works(root map[string]file, arch string, pinned map[string]string) error {
	sums, err := o.starts(root)
	if err != nil {
		return err
	}
	for _, cloud := range []string{"None", "AWS", "Azure"} {
		node, err := o.configures(root, sums, cloud)
		if err != nil {
			return fmt.Errorf("%s: %w", cloud, err)
		}
		for _, f := range o.files() {
			got, copied := node[path.Base(f)]
			want, ours := pinned[f]
			if !ours {
				want = o.bodyOf(arch, f)
			}
			if copied && string(got) != want {
				return fmt.Errorf("%s: the node's %s is %q, want %q", cloud, f, got, want)
			}
		}
	}
	return nil
}

func TestOperatorFindsAllThatItDemands(t *testing.T) {
	for _, o := range operators {
		t.Run(o.release, func(t *testing.T) {
			t.Parallel()
			base := write(t, o, "amd64", "arm64")
			pins, bodies := likeDefault(t, o.release, "")
			mustBake(t, pins, "lock")
			_, log := mustBake(t, pins, "payload", "--base", base, "--layout", "on-base", "--progress", "plain")
			for _, arch := range []string{"amd64", "arm64"} {
				if err := o.works(container(t, base, arch), arch, nil); err != nil {
					t.Fatalf("the played operator itself doesn't work: %v", err)
				}
				root := container(t, filepath.Join(filepath.Dir(pins), "on-base"), arch)
				if err := o.works(root, arch, bodies); err != nil {
					t.Error(err)
				}
			}
			for _, f := range o.files() {
				if _, ours := bodies[f]; ours == strings.Contains(log, "payload/"+f+": stays, from the base linux/arm64 sha256:") {
					t.Errorf("%s: pinned %v, and this was told:\n%s", f, ours, log)
				}
			}
			out, _, code := run(t, pins, "verify", "payload", "on-base", "-f", "versions.yaml", "--accept", "binary.pe.unreadable")
			if code != 0 || !strings.Contains(out, "WARN    payload.kept") {
				t.Errorf("exit code %d:\n%s", code, out)
			}
		})
	}
}

// Where the base is pinned, verify holds the image to it.
func TestPinnedBase(t *testing.T) {
	t.Parallel()
	o := operators[2]
	base := write(t, o, "amd64")
	plain, _ := likeDefault(t, o.release, "")
	mustBake(t, plain, "lock")
	first, _ := mustBake(t, plain, "payload", "--base", base, "--layout", "img")
	// The base's digest, as labels have it, in any folder.
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if out, err := exec.CommandContext(t.Context(), "cp", "-r", base, moved).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if again, _ := mustBake(t, plain, "payload", "--base", moved, "--layout", "img"); again != first {
		t.Errorf("the same base in another folder gives %s, then %s", first, again)
	}
	for digest, want := range map[string]int{digestOf(t, base): 0, "sha256:" + strings.Repeat("0", 64): 3} {
		pins, _ := likeDefault(t, o.release, "base: quay.io/me/operator@"+digest+"\n")
		mustBake(t, pins, "lock")
		out, log, code := run(t, pins, "verify", "payload", filepath.Join(filepath.Dir(plain), "img"), "-f", "versions.yaml", "--accept", "binary.pe.unreadable")
		if code != want {
			t.Errorf("exit code %d, want %d:\n%s%s", code, want, out, log)
		}
	}
}

// What an operator needs isn't taken from it in silence.
func TestReplacedPayload(t *testing.T) {
	t.Parallel()
	for _, o := range []operator{operators[1], operators[2]} {
		base := write(t, o, "amd64")
		pins, bodies := likeDefault(t, o.release, "")
		mustBake(t, pins, "lock")
		_, log, code := run(t, pins, "bake", "payload", "--base", base, "--replace-payload", "--layout", "img")
		accept := []string{"payload", "--base", base, "--replace-payload", "--layout", "img"}
		for _, f := range o.files() {
			if _, ours := bodies[f]; ours {
				continue
			}
			accept = append(accept, "--accept", "payload.operator.file=payload/"+f)
			if !strings.Contains(log, f+": without it the operator ") {
				t.Errorf("%s isn't named in\n%s", f, log)
			}
		}
		if code != 1 {
			t.Errorf("exit code %d:\n%s", code, log)
		}
		mustBake(t, pins, accept...)
		root := container(t, filepath.Join(filepath.Dir(pins), "img"), "amd64")
		var left []string
		for name, f := range root {
			if strings.HasPrefix(name, "payload/") && !f.dir {
				left = append(left, name)
			}
		}
		var want []string
		for f := range bodies {
			want = append(want, o.at(f))
		}
		if o.archived {
			want = append(want, "payload/sha256sum")
		}
		slices.Sort(left)
		if slices.Sort(want); !slices.Equal(left, want) {
			t.Errorf("%s: %q, want %q", o.release, left, want)
		}
		out, _, code := run(t, pins, "verify", "payload", "img", "--accept", "binary.pe.unreadable")
		if code != 3 || strings.Count(out, "BLOCK   payload.operator.file") != len(o.files())-len(bodies) {
			t.Errorf("exit code %d:\n%s", code, out)
		}
		if err := o.works(root, "amd64", bodies); err == nil || !strings.Contains(err.Error(), "hybrid-overlay-node.exe") {
			t.Errorf("%s: without its files the operator gives %v", o.release, err)
		}
	}
}
