package deploy

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/node"
)

// Done is what a change of a node came to, as JSON has it too.
type Done struct {
	// Node is USER@HOST[:PORT]; the caller sets it.
	Node      string     `json:"node"`
	Verb      agent.Verb `json:"verb"`
	Reference string     `json:"reference,omitempty"`
	// Uploaded counts the files that were sent.
	Uploaded int `json:"uploaded"`
	agent.Result
	Seconds float64 `json:"seconds"`
	// Facts are the node's where nothing was changed; nil otherwise. Nobody
	// waited for its logs.
	Facts *node.Facts `json:"-"`
}

// Options say how a node is changed.
type Options struct {
	// Managed allows a node that WMCO manages.
	Managed bool
	Times   agent.Times
}

// Install makes the node what the image says: verb is agent.Install,
// agent.Upgrade or agent.Settle. A node that is right already costs one round trip.
func (n *Node) Install(ctx context.Context, verb agent.Verb, im *Image, o Options) (*Done, error) {
	began := time.Now()
	facts, err := n.Facts(ctx, im.Expectation, true)
	if err != nil {
		return nil, err
	}
	if err := refuse(facts, o); err != nil {
		return nil, err
	}
	out := &Done{Verb: verb, Reference: im.Reference}
	if right(im, facts) {
		out.Facts, out.Seconds = facts, time.Since(began).Seconds()
		return out, nil
	}
	files := missing(im.Expectation, facts)
	if len(files) > 0 {
		if err := n.upload(ctx, im, files); err != nil {
			return nil, err
		}
	}
	out.Uploaded = len(files)
	r, err := n.apply(ctx, &agent.Request{
		Protocol: node.Protocol, Verb: verb, Reference: im.Reference, Expectation: im.Expectation, Managed: o.Managed, Times: o.Times,
	})
	if err != nil {
		return nil, err
	}
	out.Result, out.Seconds = *r, time.Since(began).Seconds()
	return out, nil
}

// refuse says early what the node would refuse after the upload.
func refuse(f *node.Facts, o Options) error {
	if admin, ok := f.Administrator.Get(); ok && !admin {
		return agent.NotAdministrator()
	}
	if managed, ok := f.Managed.Get(); ok && managed && !o.Managed {
		return agent.ManagedFault()
	}
	return nil
}

// right tells whether there is nothing to do: the image was the last one that
// was installed, and no check fails. What the node doesn't tell can't be made
// right by doing it again.
func right(im *Image, f *node.Facts) bool {
	if f.Installed != im.Reference || f.Interrupted != "" {
		return false
	}
	for _, found := range node.Compare(im.Expectation, f) {
		if found.Severity == finding.Block || found.Severity == finding.Warn {
			return false
		}
	}
	return true
}

// Remove takes away what was installed, and what was brought for it.
func (n *Node) Remove(ctx context.Context, o Options) (*Done, error) {
	began := time.Now()
	empty := &node.Expectation{APIVersion: node.APIVersion, Files: []node.File{}, Services: []node.Service{}}
	facts, err := n.Facts(ctx, empty, true)
	if err != nil {
		return nil, err
	}
	if err := refuse(facts, o); err != nil {
		return nil, err
	}
	r, err := n.apply(ctx, &agent.Request{Protocol: node.Protocol, Verb: agent.Remove, Managed: o.Managed, Times: o.Times})
	if err != nil {
		return nil, err
	}
	out := &Done{Verb: agent.Remove, Result: *r}
	err = n.Clean(ctx)
	out.Seconds = time.Since(began).Seconds()
	return out, err
}

func (n *Node) apply(ctx context.Context, req *agent.Request) (*agent.Result, error) {
	data, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	// A name of its own: two of these at once must not carry out each other's.
	name := "request-" + rand.Text() + ".json"
	if err := n.put(ctx, name, data); err != nil {
		return nil, err
	}
	args := []string{"apply", "--request", n.folder() + `\` + name, "--stage", n.folder() + `\stage`}
	line, err := n.run(ctx, args...)
	if n.startsLater(ctx, err) {
		line, err = n.run(ctx, args...)
	}
	if errors.Is(err, errAbsent) {
		err = &fault.Error{What: "verify.exe was taken away from the node meanwhile: " + err.Error(), Fix: "see whether another bake node runs for it, then run this again", Err: err}
	}
	if err != nil {
		return nil, err
	}
	if line.Result == nil {
		return nil, &fault.Error{What: "verify.exe answered something else than a result", Fix: "use a payload of this release: bake payload --with-verify"}
	}
	return line.Result, nil
}

// Sentence is one line for people.
func (d *Done) Sentence() string { return d.Node + ": " + d.Work() }

// Work is the sentence without the node. What a node says may hold anything.
func (d *Done) Work() string {
	if !d.Changed {
		return fmt.Sprintf("nothing to %s", d.Verb)
	}
	parts := []string{}
	for _, p := range []struct {
		n    int
		what string
	}{{d.Installed, "installed"}, {d.Replaced, "replaced"}, {d.Removed, "removed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d files %s", p.n, p.what))
		}
	}
	for _, s := range d.Services {
		parts = append(parts, printable.Line(s))
	}
	if len(parts) == 0 {
		parts = append(parts, "recorded")
	}
	took := time.Duration(d.Seconds * float64(time.Second)).Round(10 * time.Millisecond)
	return fmt.Sprintf("%s in %s", strings.Join(parts, ", "), took)
}
