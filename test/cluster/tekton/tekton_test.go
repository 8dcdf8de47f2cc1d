//go:build cluster

package tekton

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/winbake/winbake/test/cluster/apiserver"
)

func TestCluster(t *testing.T) {
	c := start(t)
	for _, s := range []struct {
		name string
		test func(*cluster)
	}{{"precheck", (*cluster).precheck}, {"windows nodes", (*cluster).windowsNodes}, {"fan-out", (*cluster).fanOut}} {
		t.Run(s.name, func(t *testing.T) {
			c.t = t
			s.test(c)
		})
	}
}

// pins are four programs of the repository's own versions.yaml, one as if it were heavy.
const pins = `apiVersion: winbake.dev/v1
release: "4.20"
go: "GO"
components:
  - {name: kube-log-runner, module: k8s.io/component-base, version: v0.33.13, package: ./logs/kube-log-runner, payload: kube-node/kube-log-runner.exe}
  - {name: host-local, module: github.com/containernetworking/plugins, version: v1.7.1, package: ./plugins/ipam/host-local, payload: cni/host-local.exe}
  - {name: win-overlay, module: github.com/containernetworking/plugins, version: v1.7.1, package: ./plugins/main/windows/win-overlay, payload: cni/win-overlay.exe}
  - {name: shim, module: github.com/Microsoft/hcsshim, version: v0.11.7, package: ./cmd/containerd-shim-runhcs-v1, memory: 6GiB, payload: containerd/containerd-shim-runhcs-v1.exe}
`

// fanOut runs ci/tekton/matrix.yaml under a random user, as OpenShift gives one: a registry
// fails once, a worker is killed, and the pushed image is that of one machine.
func (c *cluster) fanOut() {
	t := c.t
	c.installTekton()
	repository := filepath.Join(c.work, "pins")
	for file, text := range map[string]string{
		"versions.yaml": strings.Replace(pins, "GO", strings.TrimPrefix(toolchain, "go"), 1),
		"Makefile":      ".PHONY: bin\nbin:\n\tmkdir -p bin\n\tcp /built/bake /built/verify bin/\n",
		".gitignore":    "/bin\n/_output\n",
	} {
		if err := os.MkdirAll(repository, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(repository, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bake := filepath.Join(c.bin, "bake")
	c.run(repository, bake, "lock", "-q")
	_, alone, _ := strings.Cut(c.run(repository, bake, "payload", "-q", "--record", "--layout", filepath.Join(c.work, "alone")), "@")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "pins"}} {
		c.run(repository, "git", args...)
	}

	pipeline, err := os.ReadFile("../../../ci/tekton/matrix.yaml")
	if err != nil {
		t.Fatal(err)
	}
	golang, _, _ := strings.Cut(string(pipeline[strings.Index(string(pipeline), "docker.io/library/golang"):]), "\n")
	c.kubectl("create", "namespace", "ci")
	file := filepath.Join(c.dir, "matrix.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(pipeline), golang, c.builder)), 0o600); err != nil {
		t.Fatal(err)
	}
	c.kubectl("-n", "ci", "apply", "-f", file)
	login := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	c.apply(`
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: ci}
stringData:
  config.json: '{"auths": {"` + protected + `": {"auth": "` + login + `"}}}'
---
apiVersion: tekton.dev/v1
kind: PipelineRun
metadata: {name: fan-out, namespace: ci}
spec:
  pipelineRef: {name: winbake-matrix}
  taskRunTemplate:
    podTemplate: {securityContext: {runAsUser: 1000730000, runAsGroup: 0, fsGroup: 1000730000, runAsNonRoot: true}}
  params:
  - {name: repository, value: 'git://` + host + `:` + gitPort + `/pins'}
  - {name: cache, value: '` + protected + `/me/cache'}
  - {name: image, value: '` + protected + `/me/payload:4.20'}
  - {name: plain-http, value: "true"}
  workspaces: [{name: login, secret: {secretName: login}}]
`)
	killed := c.killWorker()
	var run struct {
		Status struct {
			Conditions      []struct{ Status, Message string }
			Results         []struct{ Name, Value string }
			ChildReferences []struct{ PipelineTaskName string }
		}
	}
	c.until("the pipeline ended", func() bool {
		c.get(&run, "-n", "ci", "pipelinerun/fan-out")
		return len(run.Status.Conditions) > 0 && run.Status.Conditions[0].Status != "Unknown"
	})
	if run.Status.Conditions[0].Status != "True" {
		t.Fatalf("%+v\n%s", run.Status.Conditions, c.asks("-n", "ci", "logs", "-l", "tekton.dev/pipelineRun=fan-out", "--all-containers", "--tail=40", "--prefix", "--ignore-errors"))
	}
	got := map[string]string{}
	for _, r := range run.Status.Results {
		got[r.Name] = r.Value
	}
	ref, err := name.ParseReference(protected+"/me/payload:4.20", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	there, err := remote.Head(ref, remote.WithAuth(&authn.Basic{Username: user, Password: password}))
	if err != nil {
		t.Fatal(err)
	}
	if got["IMAGE_DIGEST"] != alone || there.Digest.String() != alone {
		t.Errorf("the pipeline says %v, the registry has %s, and one machine makes %s", got, there.Digest, alone)
	}
	workers := map[string]int{}
	for _, r := range run.Status.ChildReferences {
		workers[r.PipelineTaskName]++
	}
	if workers["light"] != 3 || workers["heavy"] != 1 || workers["plan"] != 1 || workers["payload"] != 1 {
		t.Errorf("%v", workers)
	}
	if c.failed.Load() < 2 || killed == "" {
		t.Errorf("the registry failed %d times, and the worker %q was killed", c.failed.Load(), killed)
	}
}

// killWorker deletes the pod of a worker while it compiles.
func (c *cluster) killWorker() (pod string) {
	c.t.Helper()
	c.until("a worker compiles", func() bool {
		pod = c.asks("-n", "ci", "get", "pods", "-l", "tekton.dev/pipelineTask=light", "--field-selector=status.phase=Running", "-o", "jsonpath={.items[0].metadata.name}")
		if pod == "" && c.asks("-n", "ci", "get", "pipelinerun/fan-out", "-o", "jsonpath={.status.conditions[0].status}") == "False" {
			c.t.Fatal(c.asks("-n", "ci", "logs", "-l", "tekton.dev/pipelineRun=fan-out", "--all-containers", "--tail=40", "--prefix", "--ignore-errors"))
		}
		return pod != ""
	})
	c.kubectl("-n", "ci", "delete", "pod", pod, "--grace-period=0", "--force")
	return pod
}

// precheck runs two of the CronJobs' Jobs under Pod Security's strictest level: one gives a
// verdict that passes, one fails.
func (c *cluster) precheck() {
	t := c.t
	image := push(t, images+"/verify:1", content{files: map[string]string{"/verify": filepath.Join(c.bin, "verify"), "/tmp": ""}}, v1.Config{Entrypoint: []string{"/verify"}, User: "65532"})
	folder := filepath.Join(c.work, "precheck")
	c.run(c.work, filepath.Join(c.bin, "bake"), "manifests", "precheck", "--image", image, "--to", "4.20", "--out", folder)
	c.openShift()
	files, err := filepath.Glob(folder + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.Contains(f, "prometheus-rule") { // its kind is not a part of Kubernetes
			c.kubectl("apply", "-f", f)
		}
	}
	ns := "winbake-precheck"
	for check, want := range map[string]string{"block": "Complete", "warn": "Failed"} {
		c.kubectl("-n", ns, "create", "job", "winbake-precheck-"+check+"-1", "--from=cronjob/winbake-precheck-"+check)
		var job struct {
			Status struct {
				Failed     int
				Conditions []struct{ Type, Status, Reason string }
			}
		}
		ended := func() (kind, reason string) {
			c.get(&job, "-n", ns, "job/winbake-precheck-"+check+"-1")
			for _, cond := range job.Status.Conditions {
				if cond.Status == "True" && (cond.Type == "Complete" || cond.Type == "Failed") {
					return cond.Type, cond.Reason
				}
			}
			return "", ""
		}
		c.until("the Job of "+check+" ended", func() bool { kind, _ := ended(); return kind != "" })
		// kube_job_status_failed has the number and the reason, by which the alerts go.
		if kind, reason := ended(); kind != want || want == "Failed" && (reason != "PodFailurePolicy" || job.Status.Failed != 1) {
			t.Errorf("%s: %s by %s, %d failed, want %s\n%s", check, kind, reason, job.Status.Failed, want, c.asks("-n", ns, "logs", "job/winbake-precheck-"+check+"-1"))
		}
	}
}

// openShift makes the API server say that it is OpenShift 4.19.12 on vSphere.
func (c *cluster) openShift() {
	c.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(c.dir, "kubeconfig"))
	if err != nil {
		c.t.Fatal(err)
	}
	(&apiserver.Server{Config: config}).InstallOpenShift(c.t)
	c.apply(`
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: openshift-config}}
- {apiVersion: v1, kind: Namespace, metadata: {name: openshift-config-managed}}
- {apiVersion: v1, kind: Namespace, metadata: {name: openshift-windows-machine-config-operator}}
- apiVersion: config.openshift.io/v1
  kind: ClusterVersion
  metadata: {name: version}
  spec: {channel: stable-4.19, clusterID: 0e1f2a3b-4c5d-6e7f-8a9b-0c1d2e3f4a5b}
  status:
    desired: {version: 4.19.12}
    history: [{state: Completed, version: 4.19.12}]
- {apiVersion: config.openshift.io/v1, kind: Infrastructure, metadata: {name: cluster}, status: {platform: VSphere, platformStatus: {type: VSphere}, controlPlaneTopology: HighlyAvailable}}
`)
}

// windowsNodes shows the DaemonSet of bake manifests node to the cluster's own controller
// and scheduler, with two nodes that claim to run Windows. Their kubelet is played.
func (c *cluster) windowsNodes() {
	t := c.t
	const ns = "winbake-node"
	write := func(image, out string, args ...string) string {
		folder := filepath.Join(c.work, out)
		c.run(c.work, filepath.Join(c.bin, "bake"), append([]string{"manifests", "node", "--image", "quay.io/me/node@sha256:" + strings.Repeat(image, 64), "--out", folder}, args...)...)
		return folder
	}
	for _, n := range []string{"win-1", "win-2"} {
		c.apply(`
apiVersion: v1
kind: Node
metadata: {name: ` + n + `, labels: {kubernetes.io/os: windows, kubernetes.io/hostname: ` + n + `}}
spec: {taints: [{key: os, value: Windows, effect: NoSchedule}]}
`)
		c.kubectl("patch", "node/"+n, "--subresource=status", "--type=merge", "-p", `{"status": {"capacity": {"cpu": "2", "memory": "4Gi", "pods": "20"}, "allocatable": {"cpu": "2", "memory": "4Gi", "pods": "20"}, "conditions": [{"type": "Ready", "status": "True"}]}}`)
	}
	c.kubectl("apply", "-f", write("a", "node"))
	c.until("each Windows node has its pod", func() bool { return len(c.nodePods()) == 2 })
	for _, p := range c.nodePods() {
		if p.image != "a" || !strings.HasPrefix(p.node, "win-") {
			t.Errorf("%+v", p)
		}
	}
	// No pod goes while the other isn't ready, and none where the newest one isn't.
	for _, p := range c.nodePods() {
		c.ready(ns, p.name)
	}
	for _, next := range [][2]string{{"b", write("b", "newer")}, {"c", write("c", "gone", "--remove")}} {
		image := next[0]
		c.kubectl("apply", "-f", next[1])
		for done := 1; done <= 2; done++ {
			var pods []nodePod
			c.until("another pod is of image "+image, func() bool {
				pods = c.nodePods()
				n := 0
				for _, p := range pods {
					if p.image == image {
						n++
					}
					if p.deleting { // the played kubelet has ended it
						c.asks("-n", ns, "delete", "pod", p.name, "--grace-period=0", "--force")
					}
				}
				if n > done {
					t.Errorf("%d pods are of image %s, and only %d are ready", n, image, done-1)
				}
				return n == done && len(pods) == 2
			})
			for _, p := range pods {
				if p.image == image {
					c.ready(ns, p.name)
				}
			}
		}
		c.kubectl("-n", ns, "rollout", "status", "daemonset/winbake-node", "--timeout=1h")
	}
	c.kubectl("delete", "-f", filepath.Join(c.work, "gone"), "--wait=false")
	c.kubectl("delete", "node", "win-1", "win-2")
}

type nodePod struct {
	name, node, image string // image is its digest's letter
	deleting          bool
}

func (c *cluster) nodePods() (list []nodePod) {
	c.t.Helper()
	var pods struct {
		Items []struct {
			Metadata struct{ Name, DeletionTimestamp string }
			Spec     struct {
				NodeName   string
				Containers []struct{ Image string }
			}
		}
	}
	c.get(&pods, "-n", "winbake-node", "pods")
	for _, p := range pods.Items {
		image := p.Spec.Containers[0].Image
		list = append(list, nodePod{p.Metadata.Name, p.Spec.NodeName, image[len(image)-1:], p.Metadata.DeletionTimestamp != ""})
	}
	return list
}

// ready is what the kubelet says of a pod whose probe passed.
func (c *cluster) ready(ns, pod string) {
	c.t.Helper()
	c.kubectl("-n", ns, "patch", "pod/"+pod, "--subresource=status", "--type=merge", "-p", `{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`)
}
