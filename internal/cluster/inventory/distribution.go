package inventory

import "strings"

// Unmarked is a cluster whose API server has no ClusterVersion and whose nodes show no
// other distribution.
const Unmarked = "Kubernetes without OpenShift's API"

// marks are what only nodes of a distribution have: a part of the kubelet's version, a
// label or an annotation, or how one begins.
var marks = []struct{ distribution, kubelet, key string }{
	{"Amazon EKS", "-eks-", "eks.amazonaws.com/"},
	{"Azure Kubernetes Service", "", "kubernetes.azure.com/"},
	{"Google Kubernetes Engine", "-gke.", "cloud.google.com/gke-"},
	{"RKE2", "+rke2", "rke2.io/"},
	{"k3s", "+k3s", "k3s.io/"},
	{"kubeadm", "", "kubeadm.alpha.kubernetes.io/"},
}

// Brings is the distribution that a node's containerd is part of; "" where it is
// installed by hand.
func Brings(kubelet string, labels map[string]string) string {
	d := Distribution(kubelet, labels, nil)
	if d == "kubeadm" {
		return ""
	}
	return d
}

// Distribution is what a node shows that isn't OpenShift's; "" for nothing.
func Distribution(kubelet string, labels, annotations map[string]string) string {
	for _, m := range marks {
		if m.kubelet != "" && strings.Contains(kubelet, m.kubelet) {
			return m.distribution
		}
		for _, keys := range []map[string]string{labels, annotations} {
			for key := range keys {
				if strings.HasPrefix(key, m.key) {
					return m.distribution
				}
			}
		}
	}
	return ""
}
