package node

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	winimages "github.com/winbake/winbake/test/images"
	"github.com/winbake/winbake/test/wine/winenode"
)

// hpc is where a HostProcess container has its image's files.
const hpc = `C:\hpc`

// TestDaemonSet runs the containers of bake manifests node on a node, with the files of
// the image that it pushed: install, check, and remove.
func TestDaemonSet(t *testing.T) {
	payload := image(t, winenode.CSIProxy13)
	n := start(t)
	before := n.files()
	server := httptest.NewServer(registry.New())
	defer server.Close()
	dir := t.TempDir()
	if err := winimages.WriteWindowsBase(filepath.Join(dir, "base"), "", winimages.Hive); err != nil {
		t.Fatal(err)
	}
	bake := func(out string, args ...string) *appsv1.DaemonSet {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(tools(t), "bake"), append([]string{"manifests", "node", "--out", out}, args...)...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
		text, err := os.ReadFile(filepath.Join(dir, out, "03-daemonset.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		ds := &appsv1.DaemonSet{}
		if err := yaml.UnmarshalStrict(text, ds); err != nil {
			t.Fatal(err)
		}
		return ds
	}
	ds := bake("node", "--payload", payload, "--base", "oci:base", "--push", strings.TrimPrefix(server.URL, "http://")+"/node:1", "--only", "csi-proxy")
	pod := ds.Spec.Template.Spec
	n.unpack(pod.Containers[0].Image)

	for range 2 { // a pod that is started again finds all as it was
		if r := n.contained(t.Context(), pod.InitContainers[0].Command); r.code != 0 {
			t.Fatalf("install: %+v", r)
		}
	}
	ready := pod.Containers[0].ReadinessProbe.Exec.Command
	if r := n.contained(t.Context(), ready); r.code != 0 {
		t.Fatalf("the pod isn't ready: %+v", r)
	}
	// A node of the operator is only checked, against the payload in the image.
	only := bake("only", "--image", pod.Containers[0].Image, "--check-only").Spec.Template.Spec
	if len(only.InitContainers) > 0 {
		t.Errorf("it installs something: %v", only.InitContainers)
	}
	if r := n.contained(t.Context(), only.Containers[0].ReadinessProbe.Exec.Command); r.code != 0 {
		t.Errorf("check-only: %+v", r)
	}
	if err := n.Kill(n.proxies()[0]); err != nil {
		t.Fatal(err)
	}
	for _, probe := range [][]string{ready, only.Containers[0].ReadinessProbe.Exec.Command} {
		if r := n.contained(t.Context(), probe); r.code != 3 || !strings.Contains(r.stdout, "WIN005") {
			t.Errorf("csi-proxy died, and the probe says %+v", r)
		}
	}

	gone := bake("gone", "--image", pod.Containers[0].Image, "--remove").Spec.Template.Spec
	if r := n.contained(t.Context(), gone.InitContainers[0].Command); r.code != 0 {
		t.Fatalf("remove: %+v", r)
	}
	for path := range n.files() {
		if !before[path] && !strings.HasPrefix(path, "/hpc") {
			t.Errorf("remove left %s", path)
		}
	}
	n.stays(gone.Containers[0])
}

// stays sees that a container runs on until it is stopped.
func (n node) stays(c corev1.Container) {
	n.t.Helper()
	ctx, stop := context.WithCancel(n.t.Context())
	ended := make(chan ran, 1)
	go func() { ended <- n.contained(ctx, c.Command) }()
	for {
		all, err := n.Processes("verify.exe")
		if err != nil {
			n.t.Error(err)
		}
		if len(all) > 0 || err != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	select {
	case r := <-ended:
		n.t.Errorf("%v ended by itself: %+v", c.Command, r)
	default:
	}
	stop()
	<-ended
}

// unpack puts the files of an image's last layer where a container has them.
func (n node) unpack(ref string) {
	n.t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		n.t.Fatal(err)
	}
	img, err := remote.Image(parsed)
	if err != nil {
		n.t.Fatal(err)
	}
	layers, err := img.Layers()
	if err != nil {
		n.t.Fatal(err)
	}
	content, err := layers[len(layers)-1].Uncompressed()
	if err != nil {
		n.t.Fatal(err)
	}
	for r := tar.NewReader(content); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			n.t.Fatal(err)
		}
		inside, ok := strings.CutPrefix(h.Name, "Files/")
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		to := filepath.Join(n.C(), "hpc", filepath.FromSlash(inside))
		data, err := io.ReadAll(r)
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755)); err == nil {
			err = os.WriteFile(to, data, 0o755)
		}
		if err != nil {
			n.t.Fatal(err)
		}
	}
}

// contained runs a container's command. What Wine can't tell is accepted, and what it
// leaves running is ended.
func (n node) contained(ctx context.Context, command []string) ran {
	n.t.Helper()
	line := slices.Clone(command)
	line[0] = hpc + `\` + line[0]
	switch line[2] {
	case "check":
		line = append(line, wineCantTell...)
	default:
		line = append(line, "--stop-timeout", "1s")
	}
	return n.start(ctx, line)
}
