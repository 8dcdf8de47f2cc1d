package main

import "regexp"

// fork is an OpenShift fork of a driver and where its upstream is.
type fork struct {
	// driver is the catalog's name of it.
	driver string
	// fork and upstream are owner/name on GitHub.
	fork, upstream string
	// build is the name of its image build, as ocp-build-data writes it.
	build string
	// olm: an operator ships it, so no patch of OpenShift has a certain one.
	olm bool
	// since is the first minor of 4.x whose payload, or operator, has it.
	since int
	// roots are the folders of the program's own Go code.
	roots []string
	// text is where the tree names its own version.
	text text
}

// text is a file and the expression that finds a version in it. What it says
// is a hint: makefiles lag behind the code in several releases.
type text struct {
	path string
	find *regexp.Regexp
}

// makefile finds VERSION and IMAGE_VERSION where a version is written out. The
// v2 line of Azure Disk's makefile is conditional and never built.
var makefile = text{"Makefile", regexp.MustCompile(`(?m)^\s*(?:IMAGE_)?VERSION\s*\??[:]?=\s*v?([01]\.[0-9]+\.[0-9]+\S*)`)}

// forks are all of them, in the order of the catalog's drivers.
var forks = []fork{
	{
		driver: "aws-ebs", build: "aws-ebs-csi-driver", fork: "openshift/aws-ebs-csi-driver",
		upstream: "kubernetes-sigs/aws-ebs-csi-driver", since: 8,
		roots: []string{"cmd", "pkg"}, text: makefile,
	},
	{
		driver: "azure-disk", build: "azure-disk-csi-driver", fork: "openshift/azure-disk-csi-driver",
		upstream: "kubernetes-sigs/azuredisk-csi-driver", since: 8,
		roots: []string{"cmd", "pkg"}, text: makefile,
	},
	{
		driver: "azure-file", build: "azure-file-csi-driver", fork: "openshift/azure-file-csi-driver",
		upstream: "kubernetes-sigs/azurefile-csi-driver", since: 10,
		roots: []string{"cmd", "pkg"}, text: makefile,
	},
	{
		driver: "gcp-pd", build: "gcp-pd-csi-driver", fork: "openshift/gcp-pd-csi-driver",
		upstream: "kubernetes-sigs/gcp-compute-persistent-disk-csi-driver", since: 8,
		roots: []string{"cmd", "pkg"}, text: text{
			"deploy/kubernetes/images/stable-master/image.yaml",
			regexp.MustCompile(`(?s)gcp-compute-persistent-disk-csi-driver[^-]*?newTag:\s*"?v?([0-9]+\.[0-9]+\.[0-9]+[^"\s]*)`),
		},
	},
	{
		driver: "vsphere", build: "vmware-vsphere-csi-driver", fork: "openshift/vmware-vsphere-csi-driver",
		upstream: "kubernetes-sigs/vsphere-csi-driver", since: 8,
		roots: []string{"cmd", "pkg"}, text: text{
			"manifests/vanilla/vsphere-csi-driver.yaml",
			regexp.MustCompile(`/driver:v([0-9]+\.[0-9]+\.[0-9]+\S*)`),
		},
	},
	{
		driver: "smb", olm: true, fork: "openshift/csi-driver-smb",
		upstream: "kubernetes-csi/csi-driver-smb", since: 16,
		roots: []string{"cmd", "pkg"}, text: makefile,
	},
	{
		driver: "secrets-store", olm: true, fork: "openshift/secrets-store-csi-driver",
		upstream: "kubernetes-sigs/secrets-store-csi-driver", since: 14,
		roots: []string{"cmd", "pkg"}, text: makefile,
	},
}
