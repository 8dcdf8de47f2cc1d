// Package nodeset writes the DaemonSet that installs a payload on Windows nodes without
// the Windows Machine Config Operator, checks it, and takes it off again. The pods run
// verify.exe of an image that carries the payload too; Kubernetes does the rest: the
// rollout node by node, the schedule, the events and the metric.
//
// It reads no file and talks to no cluster.
package nodeset

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/manifests/object"
)

// DefaultNamespace is where it runs unless another is given.
const DefaultNamespace = "winbake-node"

//go:embed manifests.yaml
var manifests string

// Mode is what the pods do.
type Mode string

// The modes.
const (
	Install   Mode = "install"
	CheckOnly Mode = "check-only"
	Remove    Mode = "remove"
)

// Options say what is to be written.
type Options struct {
	// Image has verify.exe, and the payload in the folder payload beside it.
	Image     string
	Namespace string // "" is DefaultNamespace
	Mode      Mode   // "" is Install
	// Only are components, for verify.exe node install.
	Only []string
	// Every is the time between two checks.
	Every time.Duration
}

// Check refuses what is wrong without a look at the image. Its errors are *fault.Error.
func (o *Options) Check() error {
	if o.Every < time.Minute {
		return &fault.Error{What: fmt.Sprintf("a check every %s would read all files again and again", o.Every), Fix: "--every 15m"}
	}
	return object.CheckNamespace(cmp.Or(o.Namespace, DefaultNamespace), DefaultNamespace)
}

// Render writes the files in the order that they are to be applied in. Its errors are
// *fault.Error: those of Check; no image, or one that can't be.
func Render(o Options) ([]object.File, error) {
	o.Namespace, o.Mode = cmp.Or(o.Namespace, DefaultNamespace), cmp.Or(o.Mode, Install)
	if err := o.Check(); err != nil {
		return nil, err
	}
	if pinned, err := object.CheckImage(o.Image, "--image REGISTRY/winbake-node@sha256:..."); err != nil {
		return nil, err
	} else if !pinned {
		return nil, &fault.Error{What: "the image is named by a tag: a node that joins later may get another", Fix: "name it by its digest: --image IMAGE@sha256:..."}
	}
	init, containers, what := o.containers()
	lists := make([]string, 2)
	for i, list := range [][]map[string]any{init, containers} {
		text, err := json.Marshal(list) // JSON is YAML too
		if err != nil {
			return nil, fmt.Errorf("write the containers: %w", err)
		}
		lists[i] = string(text)
	}
	replaced := strings.NewReplacer("$NAMESPACE", o.Namespace, "$WHAT", what, "$INIT", lists[0], "$CONTAINERS", lists[1]).Replace(manifests)
	return object.Files(replaced, "bake manifests node")
}

// containers are those of the pods, and what they do in words.
func (o *Options) containers() (init, main []map[string]any, what string) {
	container := func(name string, args ...string) map[string]any {
		return map[string]any{"name": name, "image": o.Image, "command": append([]string{"verify.exe", "node"}, args...),
			"resources": map[string]any{"requests": map[string]string{"cpu": "10m", "memory": "64Mi"}}}
	}
	if o.Mode == Remove {
		return []map[string]any{container("remove", "remove")}, []map[string]any{container("removed", "remove", "--wait")},
			"Takes off each Windows node what was put there. When all pods are ready, delete it."
	}
	const ready = "\n# A pod is ready while the check of its node passes; its events and log say what it found."
	check := []string{"check"}
	what = "Checks each Windows node against the payload, and changes none." + ready
	if o.Mode == CheckOnly {
		check = append(check, "--beside")
	} else {
		what = "Installs the payload on each Windows node, and checks it from then on." + ready
		args := []string{"install", "--beside"}
		for _, c := range o.Only {
			args = append(args, "--only="+c)
		}
		init = append(init, container("install", args...))
	}
	c := container("check", append(check, "--every="+o.Every.String())...)
	c["readinessProbe"] = map[string]any{
		"exec":          map[string]any{"command": append([]string{"verify.exe", "node"}, check...)},
		"periodSeconds": int(o.Every.Seconds()), "timeoutSeconds": 120, "failureThreshold": 1,
	}
	return init, []map[string]any{c}, what
}
