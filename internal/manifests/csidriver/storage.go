package csidriver

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testNamespace is where the claim and the Deployment that try the driver live.
const testNamespace = "windows-storage-test"

// storage is what a StorageClass of a driver for Windows says.
type storage struct {
	// ntfs: a disk, which Windows formats; Linux' default would be ext4.
	ntfs bool
	// wait for a pod before a volume is made, so that it is made in its zone.
	wait bool
	// expand: volumes can grow.
	expand bool
	// shared: many nodes may write at once.
	shared     bool
	parameters map[string]string
}

func (s *shape) className() string { return "windows-" + s.name }

func (s *shape) storageClass(provisioner string) *storagev1.StorageClass {
	parameters := map[string]string{}
	for k, v := range s.storage.parameters {
		parameters[k] = v
	}
	if s.storage.ntfs {
		parameters["csi.storage.k8s.io/fstype"] = "ntfs"
	}
	binding, reclaim := storagev1.VolumeBindingImmediate, corev1.PersistentVolumeReclaimDelete
	if s.storage.wait {
		binding = storagev1.VolumeBindingWaitForFirstConsumer
	}
	class := &storagev1.StorageClass{
		TypeMeta:    metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
		ObjectMeta:  metav1.ObjectMeta{Name: s.className()},
		Provisioner: provisioner, Parameters: parameters, ReclaimPolicy: &reclaim, VolumeBindingMode: &binding,
	}
	if s.storage.expand {
		class.AllowVolumeExpansion = &s.storage.expand
	}
	return class
}

func (s *shape) claim() *corev1.PersistentVolumeClaim {
	class, mode := s.className(), corev1.PersistentVolumeFilesystem
	access := corev1.ReadWriteOnce
	if s.storage.shared {
		access = corev1.ReadWriteMany
	}
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: class, Namespace: testNamespace},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{access}, StorageClassName: &class, VolumeMode: &mode,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}},
		},
	}
}

// deployment writes the time into a file of the volume, again and again.
func (s *shape) deployment(w *windowsRelease, image string) *appsv1.Deployment {
	labels := map[string]string{"app": s.className()}
	one, administrator := int32(1), "ContainerAdministrator"
	const script = `while ($true) { Add-Content -Path C:\data\times.txt -Value (Get-Date -Format u); Start-Sleep -Seconds 10 }`
	spec := corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "writer", Image: image, Command: []string{w.shell, "-Command", script},
			VolumeMounts: []corev1.VolumeMount{mount("data", `C:\data`)},
			// The image's own user may not write to a volume that was just made.
			SecurityContext: &corev1.SecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{RunAsUserName: &administrator}},
		}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: s.className()},
		}}},
	}
	onWindows(&spec)
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: s.className(), Namespace: testNamespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, // a disk can't be at two pods
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}
}

// onWindows puts a pod on Windows nodes. With os.name OpenShift's admission of
// SCCs passes it over, and the API server refuses what is Linux's alone. WMCO's
// machines have the taint os=Windows.
func onWindows(spec *corev1.PodSpec) {
	spec.OS = &corev1.PodOS{Name: corev1.Windows}
	spec.NodeSelector = map[string]string{corev1.LabelOSStable: "windows"}
	if len(spec.Tolerations) == 0 {
		spec.Tolerations = []corev1.Toleration{{Key: "os", Value: "Windows", Effect: corev1.TaintEffectNoSchedule}}
	}
}
