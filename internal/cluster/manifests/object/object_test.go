package object_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/cluster/manifests/object"
)

func TestDocument(t *testing.T) {
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec: corev1.PodSpec{
			Volumes:    []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			Containers: []corev1.Container{{Name: "c"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	got, err := object.Document("\nWhat it is for,\nin two lines.\n", pod)
	if err != nil {
		t.Fatal(err)
	}
	const want = `# What it is for,
# in two lines.
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
  containers:
  - name: c
  volumes:
  - emptyDir: {}
    name: v
`
	if string(got) != want {
		t.Errorf("%s", got)
	}
	if _, err := object.Document("", func() {}); err == nil {
		t.Error("a function is written as an object")
	}
}

func TestNamespaces(t *testing.T) {
	for name, want := range map[string]bool{"a": true, "winbake-precheck": true, "": false, "Upper": false, "-a": false, "a_b": false} {
		if object.ValidNamespace(name) != want {
			t.Errorf("ValidNamespace(%q) isn't %v", name, want)
		}
	}
	for name, want := range map[string]bool{"default": true, "kube-system": true, "openshift-config": true, "windows": false} {
		if object.ClustersOwn(name) != want {
			t.Errorf("ClustersOwn(%q) isn't %v", name, want)
		}
	}
}
