// Package precheck writes what runs `verify skew` in a cluster: CronJobs with exactly
// the rights that it uses, and the rules whose alerts `oc adm upgrade recommend` shows.
// They are data, in manifests.yaml.
//
// It reads no file and talks to no cluster.
package precheck

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
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
	// To are releases to judge, such as 4.20.
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
	if pinned, err = object.CheckImage(o.Image, "--image REGISTRY/winbake-verify@sha256:...; https://github.com/winbake/winbake/blob/main/docs/precheck.md says how to make one"); err != nil {
		return false, err
	}
	if err := object.CheckNamespace(o.Namespace, DefaultNamespace); err != nil {
		return false, err
	}
	if len(o.To) == 0 {
		return false, &fault.Error{What: "no release to judge the update to", Fix: "--to 4.20; repeat it for the minor after that"}
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
	return pinned, nil
}

// check is a CronJob: its name, the verdict that fails it, and when in the hour it runs.
type check struct{ name, verdict, minute string }

var checks = []check{{"block", "BLOCK", "7"}, {"unknown", "UNKNOWN or BLOCK", "27"}, {"warn", "WARN, UNKNOWN or BLOCK", "47"}}

// containers are those of a check, one for each release. Their arguments stand behind the
// image's entry point.
func (o *Options) containers(c check) []map[string]any {
	var list []map[string]any
	for _, to := range o.To {
		args := []string{"skew", "--to=" + to, "--fail-on=" + c.name}
		for _, a := range o.Accept {
			args = append(args, "--accept="+a)
		}
		for _, image := range o.Images {
			args = append(args, "--image-version="+image)
		}
		list = append(list, map[string]any{
			"name": "to-" + strings.ReplaceAll(to, ".", "-"), "image": o.Image, "args": args,
			// The Go runtime works harder before it meets the limit.
			"env": []map[string]string{{"name": "GOMEMLIMIT", "value": "400MiB"}},
			// A cluster of 5000 nodes takes some 110 MB (docs/performance.md).
			"resources": map[string]any{"requests": map[string]string{"cpu": "10m", "memory": "64Mi"}, "limits": map[string]string{"memory": "512Mi"}},
			"securityContext": map[string]any{
				"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": map[string]any{"drop": []string{"ALL"}},
			},
		})
	}
	return list
}

func (o *Options) files() ([]object.File, error) {
	docs := []string{""} // what stands before the first isn't a manifest
	shared := strings.NewReplacer("$NAMESPACE", o.Namespace, "$TARGETS", strings.Join(o.To, " or "))
	for _, doc := range strings.Split(shared.Replace(manifests), "\n---\n")[1:] {
		if !strings.Contains(doc, "$CHECK") {
			docs = append(docs, doc)
			continue
		}
		for _, c := range checks {
			containers, err := json.Marshal(o.containers(c)) // JSON is YAML too
			if err != nil {
				return nil, fmt.Errorf("write the containers: %w", err)
			}
			docs = append(docs, strings.NewReplacer("$CHECK", c.name, "$VERDICT", c.verdict, "$MINUTE", c.minute, "$CONTAINERS", string(containers)).Replace(doc))
		}
	}
	return object.Files(strings.Join(docs, "\n---\n"), "bake manifests precheck")
}
