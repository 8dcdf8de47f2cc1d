package precheck_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/test/apiserver"
)

// testPrinted types what `bake manifests precheck` prints, as far as it's about
// the API server: on a cluster as it's installed, where nobody has configured
// monitoring, and on one where somebody has.
func testPrinted(t *testing.T, s *apiserver.Server) {
	a := newApplier(t, s)
	const monitoring, settings = "openshift-monitoring", "cluster-monitoring-config"
	_, err := a.typed.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: monitoring}}, metav1.CreateOptions{})
	must(t, err)
	dir := t.TempDir()
	kubectl, err := apiserver.Kubectl(t.Context())
	must(t, err)
	must(t, os.Symlink(kubectl, filepath.Join(dir, "oc")))
	sh := func(command string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "KUBECONFIG="+s.Kubeconfig)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	bake := built.Command(t, "bake", "manifests", "precheck", "--image", image, "--out", "out")
	bake.Dir = dir
	printed, err := bake.Output()
	must(t, err)
	page, err := os.ReadFile("../../docs/precheck.md")
	must(t, err)
	var ran []string
	for command := range strings.Lines(string(printed)) {
		command = strings.TrimSpace(command)
		if strings.Contains(command, " rollout status ") || strings.HasPrefix(command, "oc adm ") {
			continue // no pod runs here, and kubectl has no adm
		}
		ran = append(ran, command)
		sh(command)
		if strings.Contains(command, settings) && !strings.Contains(string(page), "```sh\n"+command+"\n```") {
			t.Errorf("docs/precheck.md doesn't have %s", command)
		}
	}
	if len(ran) != 2 {
		t.Fatalf("printed: %q", ran)
	}
	data := func() string {
		m, err := a.typed.CoreV1().ConfigMaps(monitoring).Get(t.Context(), settings, metav1.GetOptions{})
		must(t, err)
		return m.Data["config.yaml"]
	}
	if got := data(); got != "enableUserWorkload: true" {
		t.Errorf("config.yaml is %q", got)
	}
	const theirs = "prometheusK8s: {retention: 30d}"
	sh("oc -n " + monitoring + " create configmap " + settings + " --from-literal=config.yaml='" + theirs + "' --dry-run=client -o yaml | oc replace -f -")
	if out := sh(ran[1]); !strings.Contains(out, theirs) || data() != theirs {
		t.Errorf("%s makes %q of somebody's settings\n%s", ran[1], data(), out)
	}
}
