package verify

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/node/deploy"
	"github.com/winbake/winbake/internal/node/guest"
	"github.com/winbake/winbake/internal/node/wanted"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/shell"
	"github.com/winbake/winbake/payload/verify"
)

// nodeOptions are the flags of `verify node`.
type nodeOptions struct {
	ssh, expect string
	file        string
	guest       guest.Options
	registry    app.Registry
	only        []string
}

func newNode(t *tool) *cobra.Command {
	var o nodeOptions
	cmd := &cobra.Command{
		Use:   "node [IMAGE]",
		Short: "Check a Windows node over SSH",
		Long: `node compares a Windows node with what a payload image says it should be: the
sums of its files, its services and what they run as, their processes, and each
named pipe with who serves it and whether it answers. It copies verify.exe to
the node, runs it there, brings the answer back and removes it; it changes
nothing else.

IMAGE is a registry reference by digest, an OCI layout or a tarball with
/winbake/node.json; for an operator's own image, which has none, -f names the
versions.yaml that says what goes where; or --expect names that file itself. On the node, verify.exe
has the same command: verify node --expect node.json.`,
		Example: `  verify node _output/image --ssh Administrator@node1
  verify node --expect node.json --ssh Administrator@10.0.0.7:2222 -o json
  verify node quay.io/me/payload@sha256:... --ssh Administrator@node1 --accept WIN004
  verify node quay.io/openshift/operator@sha256:... -f versions.yaml --ssh Administrator@node1 --only csi-proxy`,
		Args: app.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (o.expect != "") {
				return usage(cmd, "give an image or --expect, and not both")
			}
			r, err := t.node(cmd.Context(), args, o)
			if err != nil {
				return err
			}
			return t.finish(r)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.ssh, "ssh", "", "the node: USER@HOST or USER@HOST:PORT")
	f.StringVar(&o.expect, "expect", "", "the expectation, node.json, in place of an image")
	f.StringVarP(&o.file, "file", "f", "", "versions.yaml that says what an operator's own image is on a node")
	f.StringSliceVar(&o.only, "only", nil, "only these components and the services that run them")
	f.StringArrayVar(&o.guest.KnownHosts, "known-hosts", nil, "file to check the node's key against (default ssh's own); may be repeated")
	f.StringArrayVarP(&o.guest.Identities, "identity", "i", nil, "private key to log in with (default the agent's and ssh's own); may be repeated")
	o.registry.Register(f, "the registry")
	return cmd
}

func (t *tool) node(ctx context.Context, args []string, o nodeOptions) (report.Report, error) {
	var r report.Report
	target, err := guest.ParseTarget(o.ssh)
	if err != nil {
		return r, err
	}
	im, err := t.openExpectation(ctx, args, o)
	if err != nil {
		return r, err
	}
	exe, err := nodeExe(im)
	if err != nil {
		return r, err
	}
	o.guest.Warn = func(file, what string) {
		t.Console.Emit(event.Event{Object: file, Phase: event.Verify, State: event.Warning, Message: what})
	}
	g, err := guest.Dial(ctx, target, o.guest)
	if err != nil {
		return r, err
	}
	defer g.Close() //nolint:errcheck // the facts are here
	facts, err := deploy.Check(ctx, g, exe, im.Expectation, func(s string) {
		t.Console.Emit(event.Event{Object: target.Host, Phase: event.Verify, State: event.Note, Message: s})
	})
	if err != nil {
		return r, err
	}
	r.Subject = target.String()
	r.Checked = fmt.Sprintf("%d files, %d services, %d pipes", len(facts.Files), len(facts.Services), len(facts.Pipes))
	r.Notes = []string{fmt.Sprintf("%s, %s, asked by verify.exe %s", facts.Host, facts.OS, facts.Verify)}
	r.Findings = node.Compare(im.Expectation, facts)
	return r, nil
}

// openExpectation reads the image's, or the file's.
func (t *tool) openExpectation(ctx context.Context, args []string, o nodeOptions) (*deploy.Image, error) {
	if o.expect == "" {
		im, err := deploy.OpenImage(ctx, args[0], t.load(o.registry), o.stock(t))
		if err != nil {
			return nil, err
		}
		defer im.Close() //nolint:errcheck // all that is needed of it was read
		return im, im.Only(o.only)
	}
	data, err := infile.Read(o.expect, infile.Text)
	if err != nil {
		return nil, &fault.Error{Where: o.expect, What: "the expectation can't be read: " + err.Error(), Fix: "bake payload --dir D writes it into D.winbake", Err: err}
	}
	e, err := node.Parse(data)
	if err != nil {
		return nil, err
	}
	im := &deploy.Image{Expectation: e}
	return im, im.Only(o.only)
}

// stock says what a node should be with an image that doesn't: nil unless
// versions.yaml was named.
func (o nodeOptions) stock(t *tool) deploy.Otherwise {
	if o.file == "" {
		return nil
	}
	return func(files []verify.File) (*node.Expectation, error) {
		file, err := pins.Load(o.file)
		if err != nil {
			return nil, err
		}
		return wanted.OfImage(file, presentFiles(verify.ImageSummary{Files: files}), func(name, what string) {
			t.Console.Emit(event.Event{Object: name, Phase: event.Verify, State: event.Warning, Message: what})
		})
	}
}

// nodeExe is the node's verify.exe: the one that came in the image, or is beside
// this program.
func nodeExe(im *deploy.Image) ([]byte, error) {
	if im.Verify != nil {
		return im.Verify, nil
	}
	data, path, err := deploy.BesideProgram()
	if err != nil {
		return nil, &fault.Error{Where: path, What: "there is no verify.exe", Err: err,
			Fix: "bake node verify-exe --out " + shell.Word(path) + "; or check an image of bake payload --with-verify"}
	}
	return data, nil
}
