package dsfacts

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

func daemonSet(t *testing.T, text string) *appsv1.DaemonSet {
	t.Helper()
	ds := &appsv1.DaemonSet{}
	if err := yaml.UnmarshalStrict([]byte(text), ds); err != nil {
		t.Fatal(err)
	}
	return ds
}

// Every default is of a field that a DaemonSet has, and is taken out.
func TestDefaults(t *testing.T) {
	all := daemonSet(t, string(defaultsFile))
	for _, given := range []string{
		"revisionHistoryLimit", "RollingUpdate", "maxUnavailable", "maxSurge", "Always", "ClusterFirst", "default-scheduler", "terminationGracePeriodSeconds", "defaultMode",
		"terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy", "TCP", "apiVersion", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold", "scheme",
	} {
		if !strings.Contains(Text(all), given) || strings.Contains(Text(Bare(all)), given) {
			t.Errorf("%s isn't a default, or isn't taken out", given)
		}
	}
}

// A DaemonSet says the same from a cluster and from a file; what isn't a default stays.
func TestOf(t *testing.T) {
	file := daemonSet(t, `
spec:
  template:
    spec:
      serviceAccountName: a
      hostNetwork: true
      volumes: [{name: v, hostPath: {path: /x}}, {name: s, secret: {secretName: s}}]
      containers:
      - name: c
        image: i
        ports: [{name: p, containerPort: 80}]
        resources: {limits: {memory: 1Gi}}
        livenessProbe: {httpGet: {path: /healthz, port: 80}, periodSeconds: 30}
        volumeMounts: [{name: v, mountPath: /y}, {name: s, mountPath: /s}]
`)
	cluster := daemonSet(t, `
spec:
  revisionHistoryLimit: 10
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}
  template:
    spec:
      serviceAccountName: a
      serviceAccount: a
      hostNetwork: true
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      schedulerName: default-scheduler
      terminationGracePeriodSeconds: 30
      volumes: [{name: v, hostPath: {path: /x, type: ""}}, {name: s, secret: {secretName: s, defaultMode: 420}}]
      containers:
      - name: c
        image: i
        imagePullPolicy: IfNotPresent
        ports: [{name: p, containerPort: 80, hostPort: 80, protocol: TCP}]
        resources: {limits: {memory: 1Gi}, requests: {memory: 1Gi}}
        livenessProbe: {httpGet: {path: /healthz, port: 80, scheme: HTTP}, periodSeconds: 30, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3}
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
        volumeMounts: [{name: v, mountPath: /y}, {name: s, mountPath: /s}]
`)
	if got, want := Text(Of(cluster)), Text(Of(file)); got != want {
		t.Errorf("of a cluster\n%s\nof a file\n%s", got, want)
	}
	cluster.Spec.Template.Spec.DNSPolicy = "None"
	cluster.Spec.Template.Spec.Containers[0].LivenessProbe.TimeoutSeconds = 5
	if f := Of(cluster); f["pod/DNS policy"] != "None" || f["container c/liveness probe"] == Of(file)["container c/liveness probe"] {
		t.Errorf("what isn't a default is lost: %v", f)
	}
}
