package csidriver

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/winbake/winbake/internal/version"
)

// shape is how a driver's Windows pod is made up, version by version. The
// pods are written down as the projects' own manifests have them at the
// versions that OpenShift's releases ship; what is Linux's alone in them
// (seccomp, capabilities) is left out, since the API server refuses it in a pod
// that says it is for Windows.
type shape struct {
	// name is the catalog's.
	name string
	// daemonSet and account are named as OpenShift and WMCO's examples name
	// theirs; the account is there already in OperatorNamespace.
	daemonSet, account string
	// container is the one that runs the driver.
	container string
	// maxUnavailable of a rollout, 1 or 10%.
	maxUnavailable string
	// pod makes the spec for a version, false where that version's manifest
	// wasn't looked at.
	pod func(pod) (corev1.PodSpec, bool)
	// rules are the rights that the driver needs where it can't use OpenShift's
	// service account.
	rules []rbacv1.PolicyRule
	// lacks are rights that the pod needs and OpenShift's service account hasn't
	// got, in some release at the least.
	lacks []rbacv1.PolicyRule
	// features names a ConfigMap of OperatorNamespace that the driver reads.
	features string
	storage  storage
	// openShift is the first release that the driver can serve Windows nodes on,
	// "" for any, and why.
	openShift, openShiftWhy string
	// hostNote is what the project says of its HostProcess mode.
	hostNote string
	// cautions are what old versions can't do on OpenShift's nodes.
	cautions []caution
	// unpublished are versions without an image, and the closest with one.
	unpublished map[string]substitute
}

// caution is a note on versions before one.
type caution struct{ until, text string }

// substitute takes the place of a version whose image can't be had. why has the
// latter in it as %s.
type substitute struct{ version, why string }

const neverPublished = "The project published no image of v%s"

// pod is what a pod is to be made for. The pipes are mounted by the caller.
type pod struct {
	version     version.Driver
	provisioner string
	image       string
	hostProcess bool
}

// seen is the first version that a row holds for.
type seen string

func (s seen) first() string { return string(s) }

// rows are a driver's manifests over time, oldest first. until is the first
// version that wasn't looked at.
type rows[T interface{ first() string }] struct {
	until string
	list  []T
}

// at is the row for a version; false where none was looked at.
func (r rows[T]) at(v version.Driver) (T, bool) {
	var found T
	ok := false
	for _, row := range r.list {
		if v.Compare(version.MustDriver(row.first())) < 0 {
			break
		}
		found, ok = row, true
	}
	return found, ok && v.Compare(version.MustDriver(r.until)) < 0
}

// shapes are the drivers that can be written.
var shapes = []*shape{&vsphere, &azureDisk, &azureFile, &awsEBS, &gcpPD, &smb}

// Drivers are the names of the drivers that can be written.
func Drivers() []string {
	names := make([]string, len(shapes))
	for i, s := range shapes {
		names[i] = s.name
	}
	return names
}

func shapeOf(name string) *shape {
	for _, s := range shapes {
		if s.name == name {
			return s
		}
	}
	return nil
}
