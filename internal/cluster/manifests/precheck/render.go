// Package precheck writes what runs `verify skew precheck` in a cluster: a
// Deployment with exactly the rights that it uses, a Service for its metrics,
// and the rules whose alerts `oc adm upgrade recommend` shows. They are data, in
// manifests.yaml.
//
// It reads no file and talks to no cluster. What the process does is package
// internal/precheck's.
package precheck

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/distribution/reference"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/manifests/object"
)

// DefaultNamespace is where it runs unless another is given.
const DefaultNamespace = "winbake-precheck"

//go:embed manifests.yaml
var manifests string

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
	o.Namespace = cmp.Or(o.Namespace, DefaultNamespace)
	pinned, err := o.check()
	if err != nil {
		return nil, err
	}
	f := &Folder{Namespace: o.Namespace}
	if f.Files, err = o.files(); err != nil {
		return nil, err
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
	args := []string{"skew", "precheck", "--listen=:8080", "--log-format=json"}
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

func (o *Options) files() ([]object.File, error) {
	args, err := json.Marshal(o.args()) // JSON is YAML too
	if err != nil {
		return nil, fmt.Errorf("write the arguments: %w", err)
	}
	text := strings.NewReplacer("$NAMESPACE", o.Namespace, "$IMAGE", o.Image, "$ARGS", string(args)).Replace(manifests)
	var files []object.File
	for _, doc := range strings.Split(text, "\n---\n")[1:] {
		head, body, _ := strings.Cut(doc, "\n\n")
		name, comment, _ := strings.Cut(strings.ReplaceAll("\n"+head, "\n# ", "\n")[1:], "\n")
		var tree map[string]any
		if err := yaml.Unmarshal([]byte(body), &tree); err != nil {
			return nil, fmt.Errorf("read the manifest %s: %w", name, err)
		}
		data, err := object.Document(comment+"\nWritten by bake manifests precheck.", tree)
		if err != nil {
			return nil, err
		}
		files = append(files, object.File{Name: name + ".yaml", Data: data})
	}
	return files, nil
}
