package catalog

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
)

// Publication is what the project publishes for v, of one kind; nil where that
// wasn't seen. As in Line, only v's core counts.
func (d *Driver) Publication(v version.Driver, hostProcess bool) *Publication {
	if d == nil {
		return nil
	}
	return find(d.Published, func(p *Publication) bool { return p.HostProcess == hostProcess && inRange(v, p.From, p.Until) })
}

// HasManifest tells whether the place of a manifest file is known.
func (p *Publication) HasManifest() bool { return p.Manifest != "" && p.Manifest != unseen }

// ManifestURL is where the manifest of v stands; "" where that isn't known, or
// where there is no such file.
func (p *Publication) ManifestURL(v version.Driver) string {
	if !p.HasManifest() || slices.Contains(p.Missing, v.Core()) {
		return ""
	}
	return strings.ReplaceAll(p.Manifest, placeholder, v.Core())
}

// RenderCommand is the command line that writes the manifest of v to its
// output; "" where there is none.
func (p *Publication) RenderCommand(v version.Driver) string {
	return strings.ReplaceAll(p.Render, placeholder, v.Core())
}

// Holds tells whether the project has the image in a repository.
func (p *Publication) Holds(repository string) bool {
	return repository != "" && (p.Repository == repository || slices.Contains(p.Also, repository))
}

// Publishes tells whether a repository is or was one of the project's own, for
// whatever version, or a vendor's.
func (d *Driver) Publishes(repository string) bool {
	return d != nil && (OfVendor(repository) || slices.ContainsFunc(d.Published, func(p Publication) bool {
		return p.Holds(repository) || slices.Contains(p.Former, repository)
	}))
}

// OfVendor tells whether a repository is in a place where only Kubernetes, a cloud or
// Red Hat push: it is no admin's mirror.
func OfVendor(repository string) bool { return vendors.MatchString(repository) }

// vendors are whole registries, and folders of those where anybody can have one. The
// accounts of ECR are those that EKS pulls from, one or more for each region:
// https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html
var vendors = regexp.MustCompile(`^(` + strings.Join([]string{
	`registry\.k8s\.io`, `k8s\.gcr\.io`, `gke\.gcr\.io`, `mcr\.microsoft\.com`, `registry\.redhat\.io`, `registry\.(access|connect)\.redhat\.com`,
	`([a-z]+\.)?gcr\.io/(cloud-provider-vsphere|gke-release|google-containers|k8s-artifacts-prod|k8s-staging-[^/]+)`,
	`quay\.io/(k8scsi|openshift|openshift-release-dev)`, `public\.ecr\.aws/(ebs-csi-driver|eks|eks-distro)`,
	`(013241004608|066635153087|121268973566|151610086707|151742754352|296578399912|333609536671|455263428931|491585149902|533267051163|558608220178|590381155156` +
		`|602401143452|730335286997|759879836304|761377655185|800184023465|877085696533|900612956339|900889452093|918309763551|961992271922)\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(\.cn)?`,
}, "|") + `)/`)

// Gone tells whether the image of v stood in repositories that are no more, and
// which is the next version that can still be had; "" where none is known.
func (d *Driver) Gone(v version.Driver, hostProcess bool) (next string, gone bool) {
	p := d.Publication(v, hostProcess)
	if p == nil || p.Repository != "" || len(p.Former) == 0 {
		return "", false
	}
	for i := range d.Published {
		later := &d.Published[i]
		from := coreOf(parseDriver(later.From))
		if later.HostProcess != hostProcess || later.Repository == "" || from.Compare(coreOf(v)) < 0 {
			continue
		}
		if next == "" || from.Compare(coreOf(parseDriver(next))) < 0 {
			next = later.From
		}
	}
	return next, true
}
