package states

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// elsewhere is a Kubernetes cluster that isn't OpenShift: its nodes have a mark of its
// distribution, a driver is deployed for both systems, and a Windows pod uses it.
func elsewhere(kubelet, containerd, mark string, windows driver, linux string, mods ...mod) *cluster {
	return openshift("4.20.6", "None", append([]mod{func(c *cluster) {
		c.wmco, c.plain = "", true
		for i := range c.nodes {
			c.nodes[i].wmco, c.nodes[i].kubelet, c.nodes[i].runtime = "", kubelet, "containerd://"+containerd
			c.nodes[i].labels = map[string]string{mark: "windows"}
		}
		c.linux = []driver{onLinux(windows, linux)}
	}, with(windows), uses(windows.provisioner)}, mods...)...)
}

func aks(kubelet, containerd, windows string, mods ...mod) *cluster {
	return elsewhere(kubelet, containerd, "kubernetes.azure.com/cluster", azureDiskHost(windows), "csi-azuredisk-node", mods...)
}

func eks(mods ...mod) *cluster {
	return elsewhere("v1.33.5-eks-113cf36", "2.3.6", "eks.amazonaws.com/nodegroup", ebs("v1.45.0"), "ebs-csi-node", mods...)
}

func rke2(windows driver, linux string, mods ...mod) *cluster {
	return elsewhere("v1.33.5+rke2r1", "2.3.6-k3s1", "rke.cattle.io/machine", windows, linux, mods...)
}

// plain are clusters without OpenShift.
func plain() []dimension {
	ofLinux := func(image string) mod { return func(c *cluster) { c.linux[0].image = image } }
	idle := onPod(func(p *corev1.Pod) {
		if metav1.GetControllerOf(p) == nil {
			p.Status.Phase = corev1.PodPending
		}
	})
	smb := adjusted(smbPipes("v1.16.0"), []option{tolerating(everything)})
	return []dimension{
		{"AKS, both the same", aks("v1.33.5", "2.3.6", "v1.33.3-windows-hp"), "", nil, pass, "", ""},
		{"AKS, Windows behind", aks("v1.33.5", "2.3.6", "v1.31.1-windows-hp", ofLinux("mcr.microsoft.com/oss/kubernetes-csi/azuredisk-csi:v1.33.3")), "", nil, warn, "SKEW001", "azuredisk-csi:v1.33.3-windows-hp"},
		{"AKS, an old containerd", aks("v1.33.5", "1.7.20", "v1.33.3-windows-hp"), "", nil, warn, "NODE007", "newer image or release of Azure Kubernetes Service"},
		{"AKS of another Kubernetes", aks("v1.30.5", "2.3.6", "v1.33.3-windows-hp"), "", nil, pass, "", ""},
		{"EKS, a mounted volume alone shows csi-proxy", eks(), "", nil, pass, "", ""},
		{"EKS, the driver crashes", eks(), "", waiting("CrashLoopBackOff"), block, "REG004", "CrashLoopBackOff"},
		{"EKS, no Windows driver", eks(func(c *cluster) { c.drivers = nil }), "", nil, block, "REG001", "deploy the driver's Windows DaemonSet"},
		{"RKE2, HostProcess", rke2(vsphereHost("v3.5.0"), "vsphere-csi-node"), "", nil, pass, "", ""},
		{"RKE2, pipes", rke2(vsphere("v3.3.1"), "vsphere-csi-node"), "", nil, pass, "", ""},
		{"RKE2, pipes, and no pod has its volume", rke2(smb, "csi-smb-node"), "", []any{idle}, unknown, "PROXY001", "whether the service csi-proxy runs"},
		{"kubeadm, an old containerd", elsewhere("v1.33.5", "1.7.20", "kubeadm.alpha.kubernetes.io/cri-socket", vsphereHost("v3.5.0"), "vsphere-csi-node"), "", nil, warn, "NODE007", "install containerd"},
	}
}

// ofOpenShift is what nobody outside of OpenShift has.
var ofOpenShift = regexp.MustCompile(`\boc |kubectl adm |must-gather|OpenShift|WMCO`)

// TestElsewhere judges clusters that aren't OpenShift, and sees that nothing of it is
// told or printed there.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for _, d := range plain() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			asked := d.asked(t)
			d.check(t, judge(t, asked))
			out := run(t, append([]string{"skew"}, asked...)...)
			if words := ofOpenShift.FindAllString(out.stdout, -1); len(words) > 0 {
				t.Errorf("it says %q:\n%s", words, out.stdout)
			}
			if out = run(t, slices.Concat([]string{"skew"}, asked, []string{"--from", "4.20", "--to", "4.21"})...); out.exit != 1 || !strings.Contains(out.stderr, "there is no update to OpenShift 4.21") {
				t.Errorf("an update of OpenShift is planned: exit %d, %s%s", out.exit, out.stdout, out.stderr)
			}
		})
	}
}
