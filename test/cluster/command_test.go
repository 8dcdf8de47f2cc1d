package cluster_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/support/kubeclient"
	"github.com/winbake/winbake/test/support/program"
)

var built = program.Folder{Commands: []string{"bake", "verify"}}

func TestMain(m *testing.M) { built.Main(m) }

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return built.Command(t, "verify", args...)
}

// result is what a run of verify left.
type result struct {
	stdout, stderr string
	exit           int
}

func run(t *testing.T, args ...string) result {
	t.Helper()
	cmd := command(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// answer is what verify skew says, but for the places where it was read.
type answer struct {
	Exit     int `json:"-"`
	Verdict  string
	Findings []said
}

type said struct{ ID, Severity, Object, Observed string }

// contradiction is what a live server alone says: it is of another Kubernetes
// than the release in --from. The answers are the same but for it.
func (s said) contradiction() bool {
	return s.ID == "DATA001" && strings.HasPrefix(s.Observed, "--from says 4.19, which has Kubernetes 1.32; the API server that was read is v")
}

func skew(t *testing.T, args ...string) answer {
	t.Helper()
	r := run(t, append([]string{"skew", "--from", "4.19", "--to", "4.20", "-o", "json"}, args...)...)
	var a answer
	if err := json.Unmarshal([]byte(r.stdout), &a); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	a.Exit = r.exit
	return a
}

// ids are the findings that count against an exit code.
func (a answer) ids(severity string) []string {
	var out []string
	for _, f := range a.Findings {
		if f.Severity == severity && !slices.Contains(out, f.ID) {
			out = append(out, f.ID)
		}
	}
	return out
}

func (a answer) String() string {
	text, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// sources give the same cluster three times, as flags of verify.
func sources(t *testing.T, s *apiserver.Server, manifests string) map[string][]string {
	t.Helper()
	gates := noGates(t, s)
	return map[string][]string{
		"manifests":   {"--manifests", manifests, "--manifests", gates},
		"cluster":     {"--kubeconfig", s.Kubeconfig},
		"must-gather": {"--must-gather", gather(t, s)},
	}
}

// noGates is that no gate waits for an acknowledgement, in the cluster and as a
// file. Manifests and a must-gather without the ConfigMap don't tell.
func noGates(t *testing.T, s *apiserver.Server) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	const namespace, name = "openshift-config-managed", "admin-gates"
	_, err = client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	_, err = client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "gates.yaml")
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: " + namespace + "}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// testSkew: verify skew says the same of every source.
func testSkew(t *testing.T, s *apiserver.Server) {
	t.Run("as it is", func(t *testing.T) {
		want := sameAnswer(t, sources(t, s, example))
		if want.Exit != 0 || want.Verdict != "WARN" || !slices.Contains(want.ids("INFO"), "SKEW001") || !slices.Contains(want.ids("WARN"), "HP005") {
			t.Errorf("%s", want)
		}
	})
	t.Run("--fail-on=warn", func(t *testing.T) {
		for name, flags := range sources(t, s, example) {
			if a := skew(t, append(flags, "--fail-on=warn")...); a.Exit != 2 {
				t.Errorf("%s: exit %d: %s", name, a.Exit, a)
			}
		}
	})
	t.Run("without nodes", func(t *testing.T) {
		rights := documented(t)
		rights.Cluster = slices.DeleteFunc(rights.Cluster, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Resources, "nodes") || slices.Contains(r.Resources, "csinodes")
		})
		gathered := gather(t, s)
		for _, dir := range []string{"core/nodes", "storage.k8s.io/csinodes"} {
			if err := os.RemoveAll(filepath.Join(gathered, "cluster-scoped-resources", dir)); err != nil {
				t.Fatal(err)
			}
		}
		for name, flags := range map[string][]string{
			"manifests":   {"--manifests", exampleFiles[0], "--manifests", exampleFiles[2]},
			"cluster":     {"--kubeconfig", s.WriteKubeconfig(t, s.User(t, "half", rights))},
			"must-gather": {"--must-gather", gathered},
		} {
			a := skew(t, flags...)
			if a.Exit != 4 || a.Verdict != "UNKNOWN" || !slices.Contains(a.ids("UNKNOWN"), "DATA002") {
				t.Errorf("%s: exit %d: %s", name, a.Exit, a)
			}
		}
	})
}

// testRetagged changes nothing but the driver's tag, everywhere.
func testRetagged(t *testing.T, s *apiserver.Server) {
	client, err := kubeclient.New(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	sets := client.AppsV1().DaemonSets("openshift-cluster-csi-drivers")
	d, err := sets.Get(t.Context(), "vmware-vsphere-csi-driver-node-windows", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	driver := &d.Spec.Template.Spec.Containers[1]
	driver.Image = strings.Replace(driver.Image, oldTag, newTag, 1)
	if _, err := sets.Update(t.Context(), d, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	want := sameAnswer(t, sources(t, s, retagged(t)))
	if want.Exit != 3 || want.Verdict != "BLOCK" || !slices.Contains(want.ids("BLOCK"), "HP001") {
		t.Errorf("%s", want)
	}
}

const (
	oldTag = "csi-vsphere/driver:v3.3.0"
	newTag = "csi-vsphere/driver:v3.5.0"
)

// sameAnswer is the answer that all sources give.
func sameAnswer(t *testing.T, sources map[string][]string) answer {
	t.Helper()
	want := skew(t, sources["manifests"]...)
	for name, flags := range sources {
		got := skew(t, flags...)
		told := len(got.Findings)
		got.Findings = slices.DeleteFunc(got.Findings, said.contradiction)
		if contradicts := told > len(got.Findings); contradicts != (name == "cluster") {
			t.Errorf("%s: the server's Kubernetes isn't that of --from, told %v", name, contradicts)
		}
		if got.Exit != want.Exit || got.String() != want.String() {
			t.Errorf("exit %d from manifests:\n%s\nexit %d from %s:\n%s", want.Exit, want, got.Exit, name, got)
		}
	}
	return want
}

// retagged is the example with the new tag.
func retagged(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "driver.yaml")
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(src, []byte(oldTag), []byte(newTag), 1)
	if bytes.Equal(src, changed) {
		t.Fatal("the tag isn't where it was")
	}
	if err := os.WriteFile(file, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The command ends at Ctrl-C, however slow the server is.
func testInterrupt(t *testing.T, s *apiserver.Server) {
	var once sync.Once
	asked := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(asked) })
		<-r.Context().Done()
	}))
	defer silent.Close()
	kubeconfig := s.WriteKubeconfig(t, &rest.Config{Host: silent.URL})
	cmd := command(t, "skew", "--from", "4.19", "--to", "4.20", "--kubeconfig", kubeconfig, "--request-timeout", "0") // only the signal ends it
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ends as if all were well")
	}
	if stdout.Len() > 0 {
		t.Errorf("it answers all the same:\n%s", stdout.String())
	}
	if strings.Contains(stderr.String(), ".go:") {
		t.Errorf("a library logs:\n%s", stderr.String())
	}
}

func testFaults(t *testing.T, s *apiserver.Server) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"away":       {[]string{"--kubeconfig", s.Kubeconfig, "--server", "https://127.0.0.1:1"}, "the API server doesn't answer"},
		"no such":    {[]string{"--kubeconfig", "/none/such"}, "there is no such kubeconfig"},
		"no context": {[]string{"--kubeconfig", s.Kubeconfig, "--context", "prod"}, `there is no context "prod", only test`},
		"bad token":  {[]string{"--kubeconfig", s.Kubeconfig, "--token", "guessed"}, "doesn't accept the credentials"},
		"no name":    {[]string{"--server", "https://127.0.0.1:1"}, "https://127.0.0.1:1: the API server doesn't answer"},
		"nothing":    {nil, "no cluster is given"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, append([]string{"skew", "--from", "4.19", "--to", "4.20"}, c.args...)...)
			if r.exit != 1 || r.stdout != "" || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "fix: ") != 1 || strings.Contains(r.stderr, ".go:") {
				t.Errorf("exit %d\n%s%s", r.exit, r.stdout, r.stderr)
			}
		})
	}
	t.Run("too slow", func(t *testing.T) {
		s.Pause()
		defer s.Resume()
		r := run(t, "skew", "--kubeconfig", s.Kubeconfig, "--request-timeout=500ms")
		if r.exit != 1 || !strings.Contains(r.stderr, "took longer than 500ms") || strings.Contains(r.stderr, ".go:") {
			t.Errorf("exit %d\n%s%s", r.exit, r.stdout, r.stderr)
		}
	})
}
