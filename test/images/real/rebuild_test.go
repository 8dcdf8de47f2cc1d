package real

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/winbake/winbake/test/support/keypair"
)

// inside is set for the part of the test that has no network.
const inside = "WINBAKE_TEST_INSIDE"

// TestRebuiltWithoutNetwork: what one clone has pushed with provenance, another rebuilds
// from that and a bundle, in empty caches, where there is no network but this machine's own.
func TestRebuiltWithoutNetwork(t *testing.T) {
	if work := os.Getenv(inside); work != "" {
		pushedAndRebuilt(t, work)
		return
	}
	if os.Getuid() != 0 {
		t.Fatal("only root can leave the network")
	}
	work, err := os.MkdirTemp(scratch, "rebuild-") //nolint:usetesting // t.TempDir is below TMPDIR
	if err != nil {
		t.Fatal(err)
	}
	bin := tools(t)
	if out, err := bash(t, work, bin+`/bake -f "$TOP/versions.yaml" bundle --only kube-log-runner --out sources.tar && `+
		bin+`/bake -f "$TOP/versions.yaml" build kube-log-runner && mkdir other`, "TOP="+repository(t)); err != nil {
		t.Fatal(out, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "unshare", "--net", "env", inside+"="+work, "BIN="+bin, self, "-test.run=^TestRebuiltWithoutNetwork$", "-test.v").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestRebuiltWithoutNetwork") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func pushedAndRebuilt(t *testing.T, work string) {
	if out, err := exec.CommandContext(t.Context(), "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	bin, ref := os.Getenv("BIN"), strings.TrimPrefix(server.URL, "http://")+"/me/payload:1"
	if err := keypair.Write(filepath.Join(work, "key.pem"), filepath.Join(work, "key.pub")); err != nil {
		t.Fatal(err)
	}
	if out, err := bash(t, repository(t), bin+`/bake payload --only kube-log-runner --push "$REF" --sign-key "$WORK/key.pem" --builder-id https://ci.example/1`, "REF="+ref, "WORK="+work); err != nil {
		t.Fatal(out, err)
	}
	empty := []string{"REF=" + ref, "HOME=" + work + "/home", "XDG_CACHE_HOME=" + work + "/xdg", "GOPATH=" + work + "/gopath", "GOMODCACHE=" + work + "/gopath/pkg/mod", "GOFLAGS=-modcacherw"}
	elsewhere := filepath.Join(work, "other")
	rebuild := bin + `/verify rebuild "$REF" --key ../key.pub -v`
	if out, err := bash(t, elsewhere, rebuild, empty...); err == nil {
		t.Fatalf("without sources it is rebuilt: is there a network?\n%s", out)
	}
	out, err := bash(t, elsewhere, rebuild+" --from-bundle ../sources.tar", empty...)
	if err != nil || !strings.Contains(out, "built again, bit for bit") {
		t.Fatal(out, err)
	}
}
