package precheck

import (
	"fmt"
	"strings"
	"time"

	"github.com/distribution/reference"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/manifests/object"
	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/version"
)

// DefaultNamespace is where it runs unless another is given.
const DefaultNamespace = "winbake-precheck"

// name is that of every object.
const name = "winbake-precheck"

// Options say what is to be written.
type Options struct {
	// Image holds verify as its entry point.
	Image string
	// Namespace; "" is DefaultNamespace.
	Namespace string
	// Interval is the longest time between two evaluations; 0 is verify's own.
	Interval time.Duration
	// To are releases to judge; none: those that the cluster is offered.
	To []string
	// Accept and Images are flags of verify skew: --accept, --image-version.
	Accept, Images []string
}

// Folder is what is written.
type Folder struct {
	// Files in the order that they are to be applied in.
	Files []object.File
	// Notes are what the admin should know: one sentence each.
	Notes []string
	// Namespace that it runs in.
	Namespace string
}

// Render writes the files. Its errors are *fault.Error: no image, or one that
// can't be; a namespace that isn't for this.
func Render(o Options) (*Folder, error) {
	if o.Namespace == "" {
		o.Namespace = DefaultNamespace
	}
	pinned, err := o.check()
	if err != nil {
		return nil, err
	}
	f := &Folder{Namespace: o.Namespace}
	for _, e := range o.entries() {
		data, err := object.Document(strings.TrimSpace(e.comment)+"\nWritten by bake manifests precheck.", e.object)
		if err != nil {
			return nil, err
		}
		f.Files = append(f.Files, object.File{Name: e.name + ".yaml", Data: data})
	}
	if !pinned {
		f.Notes = append(f.Notes, "the image is named by a tag, which may be another tomorrow: name it by its digest, IMAGE@sha256:...")
	}
	return f, nil
}

// check refuses what a cluster would refuse later, or take and not run.
func (o *Options) check() (pinned bool, err error) {
	if o.Image == "" {
		return false, &fault.Error{What: "no image to run", Fix: "--image REGISTRY/winbake-verify@sha256:...; docs/precheck.md says how to make one"}
	}
	if shown := printable.Reference(o.Image); shown != o.Image {
		return false, &fault.Error{What: shown + " holds credentials, and the manifests are for everybody to read", Fix: "leave them out, and give them to the cluster: oc create secret docker-registry"}
	}
	ref, err := reference.ParseNormalizedNamed(o.Image)
	if err != nil {
		return false, &fault.Error{What: fmt.Sprintf("%q can't be an image: %v", o.Image, err), Fix: "--image REGISTRY/winbake-verify@sha256:...", Err: err}
	}
	if !object.ValidNamespace(o.Namespace) {
		return false, &fault.Error{What: fmt.Sprintf("%q can't be a namespace", o.Namespace), Fix: "--namespace, in lower-case letters, digits and dashes"}
	}
	if object.ClustersOwn(o.Namespace) {
		return false, &fault.Error{What: o.Namespace + " is the cluster's own, and monitoring of user workloads passes it over", Fix: "--namespace, one of yours or a new one; or leave it out for " + DefaultNamespace}
	}
	if o.Interval < 0 || o.Interval > 0 && o.Interval < time.Minute {
		return false, &fault.Error{What: fmt.Sprintf("--interval can't be %s: each evaluation lists half of the cluster", o.Interval), Fix: "a minute or more: --interval=10m"}
	}
	for _, to := range o.To {
		if _, err := version.ParseOpenShift(to); err != nil {
			return false, &fault.Error{What: err.Error(), Fix: "--to 4.20 or --to 4.20.3", Err: err}
		}
	}
	for _, image := range o.Images {
		if !strings.Contains(image, "=") {
			return false, &fault.Error{What: fmt.Sprintf("--image-version %s: there is no file in the pod", image), Fix: "--image-version DIGEST_OR_IMAGE=vX.Y.Z, once for each line of the file"}
		}
	}
	_, pinned = ref.(reference.Digested)
	return pinned, nil
}

// args are the process's own. They stand behind the image's entry point.
func (o *Options) args() []string {
	args := []string{"skew", "precheck", fmt.Sprintf("--listen=:%d", port), "--log-format=json"}
	if o.Interval > 0 {
		args = append(args, "--interval="+o.Interval.String())
	}
	for _, list := range []struct {
		flag   string
		values []string
	}{{"to", o.To}, {"accept", o.Accept}, {"image-version", o.Images}} {
		for _, v := range list.values {
			args = append(args, "--"+list.flag+"="+v)
		}
	}
	return args
}

// entry is a file before it is written.
type entry struct {
	name, comment string
	object        any
}

// entries are all files, in the order that they are to be applied in.
func (o *Options) entries() []entry {
	ns := o.Namespace
	return []entry{
		{"01-namespace", "The namespace that it runs in. Its pod keeps to Pod Security's strictest level.", namespace(ns)},
		{"02-service-account", "The user that it reads the cluster as.", serviceAccount(ns)},
		{"03-cluster-role", `Exactly what verify skew precheck reads, and of four resources the changes. A test
takes each right away and sees it missed. No secret, and nothing to write.`, clusterRole()},
		{"04-cluster-role-binding", "Gives that to its service account.", clusterRoleBinding(ns)},
		{"05-acks-role", "What the administrator acknowledged before an update: one ConfigMap.", role(acksNamespace, acksRules)},
		{"06-acks-role-binding", "Gives that to its service account.", roleBinding(acksNamespace, ns)},
		{"07-gates-role", "What updates wait for: one ConfigMap.", role(gatesNamespace, gatesRules)},
		{"08-gates-role-binding", "Gives that to its service account.", roleBinding(gatesNamespace, ns)},
		{"09-services-role", `The lists of services of the Windows Machine Config Operator. Where the operator
isn't installed this namespace isn't there: leave this file out, and the next.`, role(servicesNamespace, servicesRules)},
		{"10-services-role-binding", "Gives that to its service account.", roleBinding(servicesNamespace, ns)},
		{"11-deployment", `The process. It keeps nothing: a second one would say the same, and one is
enough.`, o.deployment()},
		{"12-service", "Its metrics, for Prometheus.", service(ns)},
		{"13-service-monitor", `Has Prometheus read the metrics. On OpenShift that is the one for user workloads,
which is off until config.yaml of openshift-monitoring/cluster-monitoring-config
has enableUserWorkload: true. Without it no alert fires.`, serviceMonitor(ns)},
		{"14-prometheus-rule", `The alerts. Their label openShiftUpdatePrecheck has oc adm upgrade recommend show
them, from OpenShift 4.22 on.`, prometheusRule(ns)},
	}
}
