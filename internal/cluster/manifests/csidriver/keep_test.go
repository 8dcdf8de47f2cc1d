package csidriver_test

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/internal/cluster/manifests/object"
)

// from renders a DaemonSet, lets an admin change it, and replaces it.
func from(t *testing.T, cat *catalog.Catalog, driver, before, after string, o csidriver.Options, change func(*appsv1.DaemonSet)) (*appsv1.DaemonSet, *csidriver.Upgrade, *csidriver.Folder) {
	t.Helper()
	o.Driver, o.For = driver, release(t, before)
	folder, err := csidriver.Render(cat, o)
	if err != nil {
		t.Fatal(err)
	}
	ds := daemonSet(t, folder)
	change(ds)
	old := &csidriver.Old{Driver: driver, DaemonSet: ds}
	folder, err = csidriver.Render(cat, csidriver.Options{Driver: driver, For: release(t, after), Namespace: old.Namespace(), Registry: old.Registry(cat), Old: old})
	if err != nil {
		t.Fatal(err)
	}
	u := folder.Compare(cat, old)
	return daemonSet(t, folder), u, folder
}

func changeAt(u *csidriver.Upgrade, where string) *csidriver.Change {
	i := slices.IndexFunc(u.Changes, func(c csidriver.Change) bool { return c.Where == where })
	if i < 0 {
		return nil
	}
	return &u.Changes[i]
}

// TestKeepsTheAdmins: what an admin sets in any DaemonSet is in the new one, and
// is told; nothing else changes.
func TestKeepsTheAdmins(t *testing.T) {
	cat := load(t)
	spec := func(change func(*corev1.PodSpec)) func(*appsv1.DaemonSet) {
		return func(d *appsv1.DaemonSet) { change(&d.Spec.Template.Spec) }
	}
	few := intstr.FromInt32(3)
	for name, tc := range map[string]struct {
		change func(*appsv1.DaemonSet)
		where  string
	}{
		"pull secrets": {spec(func(s *corev1.PodSpec) { s.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "corp"}} }), "pod/imagePullSecrets"},
		"node selector": {spec(func(s *corev1.PodSpec) {
			s.NodeSelector["pool"] = "sql"
		}), "pod/node selector pool"},
		"affinity": {spec(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}}}}
		}), "pod/affinity"},
		"tolerations": {spec(func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{{Key: "os", Value: "Windows", Effect: corev1.TaintEffectNoSchedule}}
		}), "pod/tolerations"},
		"host aliases": {spec(func(s *corev1.PodSpec) {
			s.HostAliases = []corev1.HostAlias{{IP: "10.0.0.1", Hostnames: []string{"vcenter"}}}
		}), "pod/hostAliases"},
		"DNS":      {spec(func(s *corev1.PodSpec) { s.DNSConfig = &corev1.PodDNSConfig{Searches: []string{"corp"}} }), "pod/dnsConfig"},
		"priority": {spec(func(s *corev1.PodSpec) { s.PriorityClassName = "storage" }), "pod/priority class"},
		"resources": {spec(func(s *corev1.PodSpec) {
			s.Containers[1].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
		}), "container vsphere-csi-node/resources"},
		"OnDelete": {func(d *appsv1.DaemonSet) {
			d.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
		}, "daemonset/updateStrategy"},
		"rollout": {func(d *appsv1.DaemonSet) { d.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = &few }, "daemonset/updateStrategy"},
		"label":   {func(d *appsv1.DaemonSet) { d.Labels["team"] = "storage" }, "daemonset/label team"},
		"annotation": {func(d *appsv1.DaemonSet) { d.Annotations = map[string]string{"contact": "storage"} },
			"daemonset/annotation contact"},
		"a pod's label": {func(d *appsv1.DaemonSet) { d.Spec.Template.Labels["team"] = "storage" }, "pod/label team"},
		"a pod's annotation": {func(d *appsv1.DaemonSet) { d.Spec.Template.Annotations = map[string]string{"scrape": ""} },
			"pod/annotation scrape"},
	} {
		now, u, _ := from(t, cat, "vsphere", "4.18", "4.18", csidriver.Options{}, tc.change)
		if len(u.Changes) > 0 {
			t.Errorf("%s: %+v", name, u.Changes)
		}
		if len(u.Kept) != 1 || u.Kept[0].Where != tc.where || u.Kept[0].What == "" || !strings.Contains(u.Kept[0].Why, "yours") {
			t.Errorf("%s: kept %+v", name, u.Kept)
		}
		again := now.DeepCopy()
		tc.change(again)
		if a, b := asText(t, now), asText(t, again); a != b {
			t.Errorf("%s isn't in the new one:\n%s", name, a)
		}
	}
}

func asText(t *testing.T, ds *appsv1.DaemonSet) string {
	t.Helper()
	text, err := ds.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTellsTheAdmins: what isn't carried over is told as the admin's, and what
// the project itself changes isn't.
func TestTellsTheAdmins(t *testing.T) {
	cat := load(t)
	for name, tc := range map[string]struct {
		change func(*appsv1.DaemonSet, *corev1.PodSpec)
		where  string
	}{
		"a sidecar": {func(_ *appsv1.DaemonSet, s *corev1.PodSpec) {
			s.Containers = append(s.Containers, corev1.Container{Name: "logs", Image: "corp/logs:v1"})
		}, "container logs"},
		"an init container": {func(_ *appsv1.DaemonSet, s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "wait", Image: "corp/wait:v1"}}
		}, "init container wait"},
		"an argument": {func(_ *appsv1.DaemonSet, s *corev1.PodSpec) {
			s.Containers[1].Args = append(s.Containers[1].Args, "--extra=1")
		}, "container vsphere-csi-node/argument --extra"},
		"another value": {func(_ *appsv1.DaemonSet, s *corev1.PodSpec) { s.Containers[0].Args[0] = "--v=2" }, "container node-driver-registrar/argument --v"},
		"a variable": {func(_ *appsv1.DaemonSet, s *corev1.PodSpec) {
			s.Containers[1].Env = append(s.Containers[1].Env, corev1.EnvVar{Name: "HTTPS_PROXY", Value: "http://proxy"})
		}, "container vsphere-csi-node/variable HTTPS_PROXY"},
		"variables of a ConfigMap": {func(_ *appsv1.DaemonSet, s *corev1.PodSpec) {
			s.Containers[1].EnvFrom = []corev1.EnvFromSource{{Prefix: "P_"}}
		}, "container vsphere-csi-node/envFrom"},
		"a volume": {func(_ *appsv1.DaemonSet, s *corev1.PodSpec) {
			s.Volumes = append(s.Volumes, corev1.Volume{Name: "ca", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "ca"}}})
		}, "pod/volume ca"},
		"a startup probe": {func(_ *appsv1.DaemonSet, s *corev1.PodSpec) {
			s.Containers[1].StartupProbe = &corev1.Probe{FailureThreshold: 9}
		}, "container vsphere-csi-node/startupProbe"},
		"a field of the pod":       {func(_ *appsv1.DaemonSet, s *corev1.PodSpec) { s.SchedulerName = "own" }, "pod/schedulerName"},
		"a field of the DaemonSet": {func(d *appsv1.DaemonSet, _ *corev1.PodSpec) { d.Spec.MinReadySeconds = 5 }, "daemonset/minReadySeconds"},
	} {
		for _, after := range []string{"4.18", "4.20"} {
			_, u, _ := from(t, cat, "vsphere", "4.18", after, csidriver.Options{}, func(d *appsv1.DaemonSet) { tc.change(d, &d.Spec.Template.Spec) })
			c := changeAt(u, tc.where)
			if c == nil || !strings.HasPrefix(c.Why, "yours") || !strings.Contains(c.Why, "carry") {
				t.Errorf("%s to %s: %+v", name, after, u.Changes)
			}
			for _, c := range u.Changes {
				if c.Where != tc.where && strings.HasPrefix(c.Why, "yours") {
					t.Errorf("%s to %s: %+v is the project's", name, after, c)
				}
			}
		}
	}
}

// TestUnknownOldVersion: of an image without a version nobody can tell what is
// whose.
func TestUnknownOldVersion(t *testing.T) {
	cat := load(t)
	_, u, folder := from(t, cat, "vsphere", "4.18", "4.18", csidriver.Options{}, func(d *appsv1.DaemonSet) {
		c := &d.Spec.Template.Spec.Containers[1]
		c.Image, c.Args = "registry.k8s.io/csi-vsphere/driver@"+one, append(c.Args, "--extra=1")
	})
	if c := changeAt(u, "container vsphere-csi-node/argument --extra"); c == nil || !strings.Contains(c.Why, "isn't known") {
		t.Errorf("%+v", u.Changes)
	}
	if !slices.ContainsFunc(folder.Notes, func(n string) bool { return strings.Contains(n, "--digest-file") }) {
		t.Errorf("that the new one isn't pinned isn't told: %v", folder.Notes)
	}
}

// TestAnyOldVersion: of each driver and mode, a version that is older or newer
// than what was seen of its manifests is replaced like the others.
func TestAnyOldVersion(t *testing.T) {
	cat := load(t)
	for _, driver := range csidriver.Drivers() {
		for _, mode := range []csidriver.Mode{csidriver.Pipes, csidriver.HostProcess} {
			for _, tag := range []string{"v0.0.1", "v0.5.0", "v1.0.0", "v1.7.0", "v2.0.0", "v99.0.0"} {
				folder, err := csidriver.Render(cat, csidriver.Options{Driver: driver, For: release(t, "4.20"), Mode: csidriver.Auto})
				if err != nil {
					t.Fatal(err)
				}
				ds := daemonSet(t, folder)
				s := &ds.Spec.Template.Spec
				on := mode == csidriver.HostProcess
				s.SecurityContext = &corev1.PodSecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{HostProcess: &on}}
				for i := range s.Containers {
					if c := &s.Containers[i]; !strings.Contains(c.Image, "/sig-storage/node-driver-registrar") {
						repository, _, _ := strings.Cut(c.Image, ":")
						c.Image = repository + ":" + tag
					}
				}
				old := &csidriver.Old{Driver: driver, DaemonSet: ds}
				folder, err = csidriver.Render(cat, csidriver.Options{Driver: driver, For: release(t, "4.20"), Old: old})
				if err == nil {
					folder.Compare(cat, old)
				}
				if f := (*fault.Error)(nil); err != nil && !errors.As(err, &f) {
					t.Errorf("%s %s %s: %v", driver, mode, tag, err)
				}
			}
		}
	}
}

// TestOfACluster: what the API server fills in, and what tools write, is no
// change.
func TestOfACluster(t *testing.T) {
	cat := load(t)
	now, u, _ := from(t, cat, "azure-disk", "4.20", "4.20", csidriver.Options{}, func(d *appsv1.DaemonSet) {
		grace, history, one, none := int64(30), int32(10), intstr.FromInt32(1), intstr.FromInt32(0)
		d.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: "1", corev1.LastAppliedConfigAnnotation: "{}"}
		d.Annotations["operator.openshift.io/spec-hash"] = "ab" // of the Linux one that it was made of
		d.Labels["helm.sh/chart"] = "x-1"
		d.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "2026", "openshift.io/required-scc": "restricted-v2"}
		d.Spec.RevisionHistoryLimit = &history
		d.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one, MaxSurge: &none}
		s := &d.Spec.Template.Spec
		s.RestartPolicy, s.DNSPolicy, s.SchedulerName, s.TerminationGracePeriodSeconds = "Always", "ClusterFirst", "default-scheduler", &grace
		s.DeprecatedServiceAccount = s.ServiceAccountName
		for i := range s.Containers {
			c := &s.Containers[i]
			c.TerminationMessagePath, c.TerminationMessagePolicy, c.ImagePullPolicy = "/dev/termination-log", "File", "IfNotPresent"
			for j := range c.Ports {
				c.Ports[j].Protocol, c.Ports[j].HostPort = "TCP", c.Ports[j].ContainerPort
			}
			for j := range c.Env {
				if v := c.Env[j].ValueFrom; v != nil && v.FieldRef != nil {
					v.FieldRef.APIVersion = "v1"
				}
			}
		}
	})
	if len(u.Changes) > 0 || len(u.Kept) > 0 || u.Delete != "" {
		t.Errorf("changes %+v, kept %+v, %s", u.Changes, u.Kept, u.Delete)
	}
	if len(now.Annotations) > 0 || len(now.Labels) != 1 || len(now.Spec.Template.Annotations) > 0 {
		t.Errorf("tools' marks were kept: %v, %v", now.ObjectMeta, now.Spec.Template.ObjectMeta)
	}
}

// TestKeepsTheChoices: mode, namespace and mirror of the old one, where the new
// version has them.
func TestKeepsTheChoices(t *testing.T) {
	cat := load(t)
	none := func(*appsv1.DaemonSet) {}
	for name, tc := range map[string]struct {
		driver, before, after string
		o                     csidriver.Options
		change                func(*appsv1.DaemonSet)
		hostProcess           bool
		namespace, image      string
		kept                  []string
		note                  string
	}{
		"the usual":                      {"aws-ebs", "4.20", "4.22", csidriver.Options{}, none, false, "", "public.ecr.aws/ebs-csi-driver/", nil, ""},
		"HostProcess":                    {"aws-ebs", "4.20", "4.22", csidriver.Options{Mode: csidriver.HostProcess}, none, true, "", "public.ecr.aws/", []string{"mode: hostprocess"}, ""},
		"HostProcess as the project":     {"azure-disk", "4.20", "4.22", csidriver.Options{}, none, true, "", "mcr.microsoft.com/", nil, ""},
		"pipes where the project hasn't": {"azure-disk", "4.17", "4.18", csidriver.Options{}, none, false, "", "mcr.microsoft.com/", []string{"mode: pipes"}, ""},
		"pipes that are gone":            {"vsphere", "4.19", "4.20", csidriver.Options{}, none, true, "", "registry.k8s.io/", nil, ""},
		"a namespace":                    {"smb", "4.18", "4.20", csidriver.Options{Namespace: "winstore"}, none, false, "winstore", "registry.k8s.io/", []string{"mode: pipes", "namespace: winstore"}, ""},
		"the cluster's namespace":        {"smb", "4.20", "4.20", csidriver.Options{}, func(d *appsv1.DaemonSet) { d.Namespace = "kube-system" }, true, "kube-system", "registry.k8s.io/", []string{"namespace: kube-system"}, ""},
		"a mirror":                       {"azure-disk", "4.20", "4.22", csidriver.Options{Registry: "mirror.corp:5000/ocp"}, none, true, "", "mirror.corp:5000/ocp/oss/v2/kubernetes-csi/", []string{"registry: mirror.corp:5000/ocp"}, ""},
		"a mirror by digest": {"azure-disk", "4.20", "4.22", csidriver.Options{Registry: "mirror.corp:5000/ocp"}, func(d *appsv1.DaemonSet) {
			for i := range d.Spec.Template.Spec.Containers {
				c := &d.Spec.Template.Spec.Containers[i]
				c.Image = c.Image[:strings.LastIndex(c.Image, ":")] + "@" + one
			}
		}, true, "", "mirror.corp:5000/ocp/oss/v2/kubernetes-csi/", []string{"registry: mirror.corp:5000/ocp"}, "--digest-file"},
		"a mirror that cuts the path": {"vsphere", "4.18", "4.19", csidriver.Options{}, func(d *appsv1.DaemonSet) {
			d.Spec.Template.Spec.Containers[1].Image = "mirror.corp/driver:v3.3.1"
		}, false, "", "registry.k8s.io/", nil, "mirror.corp/driver, which doesn't end"},
	} {
		t.Run(name, func(t *testing.T) {
			now, u, folder := from(t, cat, tc.driver, tc.before, tc.after, tc.o, tc.change)
			c := driverContainer(t, &now.Spec.Template.Spec, cat.Driver(tc.driver))
			if folder.HostProcess != tc.hostProcess || !strings.HasPrefix(c.Image, tc.image) {
				t.Errorf("HostProcess %t, %s", folder.HostProcess, c.Image)
			}
			if want := tc.namespace; now.Namespace != want && (want != "" || now.Namespace != csidriver.OperatorNamespace) {
				t.Errorf("in %s", now.Namespace)
			}
			var kept []string
			for _, k := range u.Kept {
				kept = append(kept, k.Where+": "+k.What)
			}
			if !slices.Equal(kept, tc.kept) || !strings.Contains(strings.Join(folder.Notes, "\n"), tc.note) {
				t.Errorf("kept %q, notes %q", kept, folder.Notes)
			}
		})
	}
}

// upstreams are the places of the projects' own DaemonSets, and of others that
// admins have: the pods of each can be replaced node by node.
var upstreams = map[string]struct {
	driver, namespace, name, account string
	selector                         *metav1.LabelSelector
}{
	"Azure Disk's manifest": {"azure-disk", "kube-system", "csi-azuredisk-node-win", "csi-azuredisk-node-sa", matching("app", "csi-azuredisk-node-win")},
	"Azure File's manifest": {"azure-file", "kube-system", "csi-azurefile-node-win", "csi-azurefile-node-sa", matching("app", "csi-azurefile-node-win")},
	"SMB's manifest":        {"smb", "kube-system", "csi-smb-node-win", "csi-smb-node-sa", matching("app", "csi-smb-node-win")},
	"vSphere's manifest":    {"vsphere", "vmware-system-csi", "vsphere-csi-node-windows", "vsphere-csi-node", matching("app", "vsphere-csi-node-windows")},
	"GCP's manifest":        {"gcp-pd", "gce-pd-csi-driver", "csi-gce-pd-node-win", "csi-gce-pd-node-sa-win", matching("app", "gcp-compute-persistent-disk-csi-driver")},
	"EBS' chart": {"aws-ebs", "kube-system", "ebs-csi-node-windows", "ebs-csi-node-sa",
		matching("app", "ebs-csi-node", "app.kubernetes.io/name", "aws-ebs-csi-driver", "app.kubernetes.io/instance", "ebs")},
	"WMCO's example": {"vsphere", csidriver.OperatorNamespace, "vmware-vsphere-csi-driver-node-windows", "vmware-vsphere-csi-driver-node-sa",
		matching("app", "vmware-vsphere-csi-driver-node-windows")},
	"a pool's": {"smb", "storage", "smb-2019", "", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpExists}}}},
}

func matching(pairs ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for pair := range slices.Chunk(pairs, 2) {
		s.MatchLabels[pair[0]] = pair[1]
	}
	return s
}

// TestReplacesInPlace: the new DaemonSet is one that the API server takes for the old
// one's next version, on the nodes that the old one was on, with the rights that it
// needs, and nothing is deleted.
func TestReplacesInPlace(t *testing.T) {
	cat := load(t)
	for name, tc := range upstreams {
		now, u, folder := from(t, cat, tc.driver, "4.20", "4.21.12", csidriver.Options{}, func(d *appsv1.DaemonSet) {
			d.Namespace, d.Name, d.Spec.Selector = tc.namespace, tc.name, tc.selector
			d.Spec.Template.Labels = map[string]string{"team": "storage"}
			maps.Copy(d.Spec.Template.Labels, tc.selector.MatchLabels)
			d.Spec.Template.Spec.ServiceAccountName = tc.account
			d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "node.kubernetes.io/os", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
		})
		if now.Namespace != tc.namespace || now.Name != tc.name || !reflect.DeepEqual(now.Spec.Selector, tc.selector) || u.Delete != "" {
			t.Errorf("%s: %s/%s, %v, %s", name, now.Namespace, now.Name, now.Spec.Selector, u.Delete)
		}
		selector, err := metav1.LabelSelectorAsSelector(now.Spec.Selector)
		if err != nil || !selector.Matches(labels.Set(now.Spec.Template.Labels)) {
			t.Errorf("%s: the selector doesn't find the pods: %v, %v", name, now.Spec.Template.Labels, err)
		}
		if account := now.Spec.Template.Spec.ServiceAccountName; tc.account != "" && account != tc.account || account == "" {
			t.Errorf("%s: the account is %q", name, account)
		}
		if taints := now.Spec.Template.Spec.Tolerations; len(taints) != 2 || taints[1].Key != "os" || changeAt(u, "pod/tolerations") == nil {
			t.Errorf("%s: a node of a machine set isn't for it: %v", name, taints)
		}
		role, bound := rights(t, folder)
		if openShifts := tc.namespace == csidriver.OperatorNamespace; !openShifts && (role == nil || role.Name != tc.name) || bound == (role == nil) {
			t.Errorf("%s: rights %v, bound: %t", name, role, bound)
		}
		for _, f := range folder.Files {
			if f.Name == "01-namespace.yaml" && object.ClustersOwn(tc.namespace) || f.Name == "02-service-account.yaml" && tc.account != "" {
				t.Errorf("%s: %s is there already", name, f.Name)
			}
		}
	}
}

// TestRefusesWhatAnOperatorDeploys: nothing is deleted for an operator's DaemonSet
// that isn't known to be there.
func TestRefusesWhatAnOperatorDeploys(t *testing.T) {
	cat := load(t)
	cat.Release("5.0").WindowsManaged = []string{"vsphere"}
	_, err := csidriver.Render(cat, csidriver.Options{Driver: "vsphere", For: release(t, "5.0")})
	if f, ok := errors.AsType[*fault.Error](err); !ok || strings.Contains(f.Fix, "delete") || !strings.Contains(f.Fix, "verify skew plan --to 5.0") {
		t.Errorf("%v", err)
	}
}
