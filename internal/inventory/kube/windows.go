package kube

import corev1 "k8s.io/api/core/v1"

// ForWindows tells whether a pod asks for a Windows node.
func ForWindows(spec *corev1.PodSpec) bool {
	nowhere := func(...any) string { return "" }
	return askedOS(podTemplate{spec, nil, nowhere}) == windows
}
